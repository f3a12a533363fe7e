#include "proof_run.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace hcomm {
namespace {

// What the threads share. Each case is taken by one thread, which alone writes its judgement.
struct Desk {
  ProofRun run;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t ended = 0;  // guarded by mutex
};

void work_at(Desk& desk) {
  for (std::size_t taken; (taken = desk.next.fetch_add(1)) < desk.run.cases.size();) {
    desk.run.judgements[taken] = prove(desk.run.cases[taken]);
    const std::lock_guard lock(desk.mutex);
    if (++desk.ended == desk.run.cases.size()) desk.changed.notify_all();
  }
}

// On a terminal one line that changes, elsewhere a line now and then.
void report_until_done(Desk& desk) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto pause = terminal ? std::chrono::seconds(1) : std::chrono::seconds(10);
  const std::size_t all = desk.run.cases.size();
  bool reported = false;
  std::unique_lock lock(desk.mutex);
  while (!desk.changed.wait_for(lock, pause, [&] { return desk.ended == all; })) {
    const int ranks = desk.run.cases[desk.ended].first_problem.ranks;
    fmt::print(stderr, "{}{} of {} cases, at {} ranks{}", terminal ? "\r" : "", desk.ended, all, ranks, terminal ? " " : "\n");
    std::fflush(stderr);
    reported = true;
  }
  if (terminal && reported) fmt::print(stderr, "\r{:40}\r", "");
}

}  // namespace

ProofRun prove_all(int max_ranks, int jobs) {
  const MonotonicClock clock;
  const TimeNs begin = clock.now();
  Desk desk;
  desk.run.cases = proof_cases(max_ranks);
  desk.run.judgements.resize(desk.run.cases.size());
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::max(jobs, 1); ++i) threads.emplace_back([&desk] { work_at(desk); });
  report_until_done(desk);
  threads.clear();
  desk.run.seconds = static_cast<double>(clock.now() - begin) / static_cast<double>(kSecond);
  return std::move(desk.run);
}

}  // namespace hcomm
