// Goal: a process that is stopped inside a call is stuck, and one that computes is late, and each is named by all who wait.
// Method: real processes and signals. What the same looks like by a clock that is told to move is in nudge_test.cc.
#include <catch2/catch.hpp>

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/shared.h"
#include "base/tracer.h"
#include "processes.h"
#include "world.h"

namespace hcomm {
namespace {

// One page that the processes of a test share.
struct Notes {
  std::atomic<bool> is_inside{false};  // the odd rank has begun the call
  std::atomic<bool> go{false};         // the others may
  std::atomic<int> ended{0};           // of the others
};

using SharedNotes = testing::Shared<Notes>;

struct TellsBegin final : Tracer {
  explicit TellsBegin(std::atomic<bool>& told) : told_(told) {}
  void call_started(const CallTrace&) override { told_ = true; }

 private:
  std::atomic<bool>& told_;
};

void await(const std::function<bool()>& condition) {
  for (int turn = 0; turn < 50'000 && !condition(); ++turn) usleep(1000);
}

constexpr int kRanks = 4;
constexpr int kOdd = 2;

Settings settings_of(const char* algo, TimeNs timeout) {
  Settings settings;
  settings.algo = algo;
  settings.transport = "shm";
  settings.timeout_ns = timeout;
  settings.peer_timeout_ns = 500 * kMillisecond;
  return settings;
}

std::string one_call(Communicator& rank) {
  int send = 1, recv = 0;
  const Status status = rank.run(
      {.collective = Collective::allreduce, .send = &send, .recv = &recv, .count = 1, .dtype = hcommInt32});
  return std::to_string(status.code()) + " " + std::string(status.trail());
}

// By all, but for the odd one, who may have found that all it needed was there.
void expect_named(const std::vector<testing::Ended>& all, hcommResult_t code, const std::string& what) {
  const std::string culprit = "rank 2 (pid " + std::to_string(all[kOdd].pid) + ")";
  for (int rank = 0; rank < kRanks; ++rank) {
    INFO("rank " << rank << ": " << all[static_cast<std::size_t>(rank)].report);
    if (rank == kOdd && all[kOdd].report.starts_with("0 ")) continue;
    CHECK_THAT(all[static_cast<std::size_t>(rank)].report, Catch::StartsWith(std::to_string(code) + " " + culprit) &&
                                                               Catch::Contains(what) &&
                                                               Catch::Contains("operation 0, allreduce(count 1, int32, sum)"));
  }
}

}  // namespace

TEST_CASE("a process that is stopped inside a call is stuck, also where nothing bounds late ones", "[process]") {
  for (const char* const algo : {"ring", "direct"}) {
    SharedNotes notes;
    const auto body = [&](Communicator& rank) {
      if (rank.rank() == kOdd) {
        TellsBegin tells(notes->is_inside);
        rank.set_tracer(&tells);
        std::string told = one_call(rank);
        rank.set_tracer(nullptr);
        return told;
      }
      await([&] { return notes->go.load(); });
      std::string told = one_call(rank);
      ++notes->ended;
      return told;
    };
    const auto stop_and_go = [&](const std::vector<pid_t>& pids) {
      await([&] { return notes->is_inside.load(); });
      kill(pids[kOdd], SIGSTOP);
      notes->go = true;
      await([&] { return notes->ended == kRanks - 1; });
      kill(pids[kOdd], SIGCONT);
    };
    INFO(algo);
    expect_named(testing::run_processes(kRanks, settings_of(algo, kNever), body, stop_and_go), hcommTimeout, "is stuck");
  }
}

TEST_CASE("a process that computes is late, not stuck, whoever waits for it through others", "[process]") {
  SharedNotes notes;
  const auto body = [&](Communicator& rank) {
    if (rank.rank() == kOdd) await([&] { return notes->ended == kRanks - 1; });
    std::string told = one_call(rank);
    ++notes->ended;
    return told;
  };
  const auto ended = testing::run_processes(kRanks, settings_of("ring", 1500 * kMillisecond), body);
  expect_named(ended, hcommTimeout, "did not come in time");
}

}  // namespace hcomm
