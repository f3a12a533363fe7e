// Trains a classifier of Fashion-MNIST on as many ranks as the launcher starts:
//
//   build/tools/hcomm run -n 4 -- build/examples/fashion/fashion
//
// Exit status: 0 trained, 1 failed (or the ranks' weights differ), 2 wrong command line.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <hcomm/hcomm.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "blas_threads.h"
#include "idx.h"
#include "options.h"
#include "report.h"
#include "train.h"

namespace {

using Clock = std::chrono::steady_clock;

hcomm::Communicator join(bool single) {
  if (single) return std::move(hcomm::Communicator::init_all(1).front());
  try {
    return hcomm::Communicator::from_env();
  } catch (const hcomm::Error& error) {
    throw std::runtime_error(std::string(error.what()) +
                             "\nstart it as: hcomm run -n 4 -- fashion [options]\n"
                             "or with --single: one rank, without a launcher");
  }
}

int run(const fashion::Options& options) {
  const Clock::time_point start = Clock::now();
  const fashion::Dataset training = fashion::read_dataset(options.data, "train");
  const fashion::Dataset test = fashion::read_dataset(options.data, "t10k");
  fashion::use_one_blas_thread();

  hcomm::Communicator comm = join(options.single);
  const bool speaks = comm.rank() == 0;
  if (speaks) {
    std::printf("%d %s, %zu pictures, batches of %zu\n", comm.size(), comm.size() == 1 ? "rank" : "ranks", training.count,
                options.settings.batch);
  }
  std::ofstream json;  // opened before the work, so that a wrong path costs nothing
  if (speaks && !options.json.empty()) json = fashion::open_json(options.json);

  const fashion::Outcome outcome = fashion::train(comm, training, test, options.settings, [speaks](const fashion::Epoch& epoch) {
    if (!std::isfinite(epoch.loss)) throw std::runtime_error("the training diverged: the loss is not a finite number");
    if (speaks) fashion::print_epoch(epoch);
  });
  if (speaks) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    fashion::print_outcome(outcome, seconds);
    if (json.is_open()) fashion::write_json(json, comm.size(), options.settings, outcome, seconds);
  }
  return outcome.weights_identical ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  fashion::Options options;
  try {
    options = fashion::parse_options(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion: %s\n%s", error.what(), fashion::kUsage);
    return 2;
  }
  if (options.help) {
    std::fputs(fashion::kUsage, stdout);
    return 0;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion: %s\n", error.what());
    return 1;
  }
}
