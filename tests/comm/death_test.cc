// Goal: when a rank is killed at a random moment, every survivor's call returns an error that names the rank, its pid, the
//       operation and its number; nobody hangs; nothing is left behind.
// Method: real processes in a loop of collectives; one of them kills itself at a moment drawn from a seed, and writes down
//         when. Each survivor reports what it got and when. The times are printed, not judged.
#include <catch2/catch.hpp>

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "base/shared.h"
#include "processes.h"
#include "world.h"

namespace hcomm {
namespace {

// One page that the processes of a trial share.
struct Notes {
  std::atomic<std::int64_t> killed_at{0};
  std::atomic<std::int64_t> pid{0};
};

using SharedNotes = testing::Shared<Notes>;

struct Trial {
  int ranks = 4;
  int victim = 1;
  std::int64_t kill_after_ns = 0;  // since its first collective
  std::string_view transport;
  const char* algo = "adaptive";
  std::size_t count = 1;
};

// Loops until it fails; "code, ns since the kill, text".
std::string loop_until_error(Communicator& rank, const Trial& trial, SharedNotes& notes) {
  std::vector<int> send(trial.count, 1), recv(trial.count);
  const CollectiveCall call{
      .collective = Collective::allreduce, .send = send.data(), .recv = recv.data(), .count = trial.count, .dtype = hcommInt32};
  // When one rank has a first result all have begun it, so nobody is still being made.
  if (Status status = rank.run(call); !status.ok()) return "the first call failed: " + std::string(status.trail());
  std::thread killer;
  if (rank.rank() == trial.victim) {
    notes->pid = getpid();
    killer = std::thread([&] {
      timespec pause{.tv_sec = 0, .tv_nsec = trial.kill_after_ns};
      nanosleep(&pause, nullptr);
      notes->killed_at = MonotonicClock().now();
      kill(getpid(), SIGKILL);
    });
  }
  for (int round = 0; round < 50'000'000; ++round) {
    const Status status = rank.run(call);
    if (!status.ok()) {
      const TimeNs since = MonotonicClock().now() - notes->killed_at;
      if (killer.joinable()) killer.detach();
      return std::to_string(status.code()) + " " + std::to_string(since) + " " + std::string(status.trail());
    }
    if (recv[0] != rank.ranks()) return "wrong value";
  }
  return "no error";
}

Settings trial_settings(const Trial& trial) {
  Settings settings;
  settings.transport = trial.transport;
  settings.algo = trial.algo;
  settings.timeout_ns = 30 * kSecond;
  return settings;
}

// Appends the survivors' delays.
void run_trial(const Trial& trial, std::vector<double>& delays_ms) {
  SharedNotes notes;
  const auto ended = testing::run_processes(
      trial.ranks, trial_settings(trial), [&](Communicator& rank) { return loop_until_error(rank, trial, notes); });
  for (int rank = 0; rank < trial.ranks; ++rank) {
    const testing::Ended& each = ended[static_cast<std::size_t>(rank)];
    INFO("rank " << rank << " of " << trial.ranks << ", victim " << trial.victim << ", " << trial.algo << ": " << each.report);
    if (rank == trial.victim) {
      REQUIRE(WIFSIGNALED(each.wait_status));
      REQUIRE(WTERMSIG(each.wait_status) == SIGKILL);
      continue;
    }
    REQUIRE(each.reported);
    REQUIRE(WIFEXITED(each.wait_status));
    char* rest = nullptr;
    REQUIRE(std::strtol(each.report.c_str(), &rest, 10) == hcommRemoteError);
    delays_ms.push_back(static_cast<double>(std::strtoll(rest, &rest, 10)) / 1e6);
    REQUIRE_THAT(each.report, Catch::Contains("rank " + std::to_string(trial.victim)) &&
                                  Catch::Contains("pid " + std::to_string(notes->pid.load())) && Catch::Contains("died") &&
                                  Catch::Contains(", allreduce(count"));
  }
}

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  if (DIR* const directory = opendir(folder)) {
    while (readdir(directory) != nullptr) ++count;
    closedir(directory);
  }
  return count;
}

void kill_often(int trials, std::uint64_t seed, std::string_view transport = "") {
  const std::size_t shared_before = entries("/dev/shm");
  const std::size_t descriptors_before = entries("/proc/self/fd");
  Random random(seed);
  std::vector<double> delays_ms;
  constexpr const char* kAlgos[] = {"adaptive", "ring", "recursive_doubling", "halving_doubling", "tree", "flat", "direct"};
  const std::uint64_t algos = testing::has_window(transport) ? 7 : 5;  // the last two need a window
  for (int trial = 0; trial < trials; ++trial) {
    const int ranks = 2 + static_cast<int>(random.below(3));
    run_trial({.ranks = ranks,
               .victim = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks))),
               .kill_after_ns = static_cast<std::int64_t>(random.below(20'000'000)),
               .transport = transport,
               .algo = kAlgos[random.below(algos)],
               .count = random.below(3) == 0 ? 100'000u : 2u},
              delays_ms);
  }
  std::ranges::sort(delays_ms);
  WARN(trials << " kills, transport '" << transport << "', seed " << seed << ": " << delays_ms.size()
              << " survivors told; median " << delays_ms[delays_ms.size() / 2] << " ms, maximum " << delays_ms.back() << " ms");
  CHECK(entries("/dev/shm") == shared_before);
  CHECK(entries("/proc/self/fd") <= descriptors_before + 2);  // the last meeting may still be closing
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);                 // no child is left
}

}  // namespace

TEST_CASE("a killed rank is named by every survivor, 25 times", "[process]") { kill_often(25, 20261129); }

TEST_CASE("a killed rank is named by every survivor on other hosts, too", "[process]") {
  kill_often(10, 20261130, "tcp");
  kill_often(10, 20261130, testing::kMixed);
}

TEST_CASE("a killed rank is named by every survivor, 100 times", "[.][process][hundred]") { kill_often(100, 7); }

// A process that ends without destroy counts as dead for peers that still need it, and not for those that do not.
TEST_CASE("an exit without destroy is seen by who still needs the rank", "[process]") {
  const auto ended = testing::run_processes(3, {}, [](Communicator& rank) -> std::string {
    int send = 1, recv = 0;
    const CollectiveCall call{.collective = Collective::allreduce, .send = &send, .recv = &recv, .count = 1, .dtype = hcommInt32};
    testing::require(rank.run(call));
    if (rank.rank() == 2) _exit(0);
    const Status status = rank.run(call);
    return std::to_string(status.code()) + " " + std::string(status.trail());
  });
  for (int rank = 0; rank < 2; ++rank) {
    const std::string& report = ended[static_cast<std::size_t>(rank)].report;
    CHECK_THAT(report, Catch::StartsWith(std::to_string(hcommRemoteError)) && Catch::Contains("rank 2"));
  }
}

TEST_CASE("an exit after the last collective troubles nobody", "[process]") {
  for (int round = 0; round < 10; ++round) {
    const auto ended = testing::run_processes(3, {}, [round](Communicator& rank) -> std::string {
      std::vector<int> send(1000, 1), recv(1000);
      for (int i = 0; i < 5; ++i) {
        testing::require(rank.run({.collective = Collective::broadcast,
                                   .send = send.data(),
                                   .recv = recv.data(),
                                   .count = 1000,
                                   .dtype = hcommInt32,
                                   .root = round % 3}));
      }
      return recv[999] == 1 ? "right" : "wrong";
    });
    for (const auto& each : ended) CHECK(each.report == "right");
  }
}

}  // namespace hcomm
