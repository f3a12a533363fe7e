#include "report.h"

#include <cinttypes>
#include <cstdio>
#include <stdexcept>

namespace fashion {

namespace {

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, value);
  return text;
}

}  // namespace

void print_epoch(const Epoch& epoch) {
  std::printf("epoch %d: loss %.4f, held-out accuracy %.4f, %.2f s, %.1f %% of the step in communication\n", epoch.number,
              epoch.loss, epoch.accuracy, epoch.seconds, 100.0 * epoch.communication_share);
  std::fflush(stdout);
}

void print_outcome(const Outcome& outcome, double seconds) {
  std::printf("weights identical on all ranks: %s (hash %s)\n", outcome.weights_identical ? "yes" : "no",
              hexadecimal(outcome.weights_hash).c_str());
  std::printf("trained in %.1f s\n", seconds);
}

std::ofstream open_json(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be written");
  return file;
}

void write_json(std::ofstream& file, int ranks, const Settings& settings, const Outcome& outcome, double seconds) {
  file.precision(17);
  file << "{\n  \"ranks\": " << ranks << ",\n  \"batch\": " << settings.batch << ",\n  \"seed\": " << settings.seed
       << ",\n  \"epochs\": [";
  const char* separator = "\n";
  for (const Epoch& epoch : outcome.epochs) {
    file << separator << "    {\"epoch\": " << epoch.number << ", \"loss\": " << epoch.loss << ", \"accuracy\": "
         << epoch.accuracy << ", \"seconds\": " << epoch.seconds << ", \"communication_share\": " << epoch.communication_share
         << "}";
    separator = ",\n";
  }
  file << "\n  ],\n  \"accuracy\": " << outcome.epochs.back().accuracy << ",\n  \"weights_identical\": "
       << (outcome.weights_identical ? "true" : "false") << ",\n  \"weights_hash\": \"" << hexadecimal(outcome.weights_hash)
       << "\",\n  \"seconds\": " << seconds << "\n}\n";
  file.close();
  if (!file) throw std::runtime_error("the JSON file could not be written to its end");
}

}  // namespace fashion
