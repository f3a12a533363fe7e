// hcomm_simulate [--seeds N] [--first SEED] [--of COLLECTIVES] [--tell]: runs N scenarios and prints what was found; exit code 1
// if anything was.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "simulation.h"

namespace {

bool read_number(const char* text, std::uint64_t& number) {
  const char* const end = text + std::strlen(text);
  return std::from_chars(text, end, number).ptr == end && end != text;
}

int usage() {
  std::fprintf(stderr, "usage: hcomm_simulate [--seeds N] [--first SEED] [--of COLLECTIVES] [--tell]\n");
  return 2;
}

}  // namespace

int main(int count, char** words) {
  std::uint64_t seeds = 1000;
  std::uint64_t first = 1;
  std::uint64_t collectives = hcomm::kCollectives.size();
  bool tells = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--tell") {
      tells = true;
    } else if (word == "--seeds" && i + 1 < count) {
      if (!read_number(words[++i], seeds)) return usage();
    } else if (word == "--first" && i + 1 < count) {
      if (!read_number(words[++i], first)) return usage();
    } else if (word == "--of" && i + 1 < count) {
      if (!read_number(words[++i], collectives) || collectives < 1 || collectives > hcomm::kCollectives.size()) return usage();
    } else {
      return usage();
    }
  }
  std::uint64_t findings = 0;
  std::uint64_t failed = 0;
  std::uint64_t calls = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const hcomm::simulation::Scenario scenario = hcomm::simulation::draw(seed, collectives);
    const hcomm::simulation::Report report = hcomm::simulation::run(scenario);
    if (tells || !report.finding.empty()) {
      std::printf("%s: %s\n", hcomm::simulation::describe(scenario).c_str(),
                  report.finding.empty() ? "well" : report.finding.c_str());
    }
    findings += report.finding.empty() ? 0 : 1;
    failed += static_cast<std::uint64_t>(report.failed_ranks);
    calls += report.calls;
  }
  std::printf("%llu seeds, %llu calls that succeeded, %llu ranks that failed as they should, %llu findings\n",
              static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(failed), static_cast<unsigned long long>(findings));
  return findings == 0 ? 0 : 1;
}
