// Ranks that die, come late or end, and what the others then do. Method: processes where a death is needed, else threads.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/child.h"
#include "base/shared.h"
#include "comm/init.h"
#include "comm/processes.h"
#include "comm/world.h"
#include "support.h"

namespace hcomm {
namespace {

using testing::algorithm_names;
using testing::allreduce_of;
using testing::exit_code;
using testing::expect;
using testing::forked;
using testing::settings_for;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool has_usual_action(int signal_number) {
  struct sigaction action {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

// What the processes of B076 share: ids that one makes for the others, by turn.
struct Notice {
  // One process gives, `others` take, in the same turn.
  hcommUniqueId give(int others) {
    hcommUniqueId given;
    testing::require(make_unique_id(given));
    id = given;
    readers = others;
    ++turn;
    return given;
  }
  void wait_until_taken() {
    for (int i = 0; i < 60'000 && readers > 0; ++i) usleep(500);
    expect(readers == 0, "an id was not taken");
  }
  hcommUniqueId take(int when) {
    for (int i = 0; i < 60'000 && turn < when; ++i) usleep(500);
    expect(turn == when, "no id was given");
    const hcommUniqueId taken = id;
    --readers;
    return taken;
  }

  std::atomic<int> turn{0};  // how many ids were given out
  hcommUniqueId id;
  std::atomic<int> readers{0};
};

std::unique_ptr<Communicator> joined(int ranks, const hcommUniqueId& id, int rank) {
  auto made = init_rank(ranks, id, rank, settings_for("adaptive", "shm"));
  testing::require(made.status());
  return std::move(made).value();
}

constexpr int kCycles = 20;

// Descriptors and threads of this process at one moment. Meetings close in their own time and the last ones may linger, but
// far fewer than there were.
class Tally {
 public:
  bool stays() const {
    for (int i = 0; i < 1000 && !within(); ++i) usleep(10'000);
    return within();
  }

 private:
  static constexpr int kLinger = 10;
  bool within() const {
    return testing::entries("/proc/self/fd") <= descriptors_ + kLinger &&
           testing::entries("/proc/self/task") <= threads_ + kLinger / 2;
  }
  int descriptors_ = testing::entries("/proc/self/fd");
  int threads_ = testing::entries("/proc/self/task");
};

// Of a survivor, after the death of rank 2: the error is there, it stays, and the communicator can be ended.
void see_the_death(std::unique_ptr<Communicator> three) {
  std::vector<int> send(100, 1), recv(100);
  hcommResult_t first = hcommSuccess;
  for (int round = 0; round < 10'000'000 && first == hcommSuccess; ++round) first = three->run(allreduce_of(send, recv)).code();
  expect(first == hcommRemoteError, "not told of a death");
  expect(three->run(allreduce_of(send, recv)).code() == hcommRemoteError, "the error did not stay");
  expect(three->async_error() == hcommRemoteError, "the error is not asked for");
}

void carry_on(Communicator& two) {
  for (int round = 0; round < 100; ++round) testing::sum_of_one(two, two.rank() + round, 2 * round + 1, 50);
}

void survivor_0(Notice& notice) {
  const Tally before;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const hcommUniqueId three = notice.give(1);
    const pid_t victim = forked([&] {
      const auto self = joined(3, three, 2);
      std::vector<int> send(100, 1), recv(100);
      static_cast<void>(self->run(allreduce_of(send, recv)));
      kill(getpid(), SIGKILL);
    });
    see_the_death(joined(3, three, 0));
    notice.wait_until_taken();
    expect(exit_code(victim) == 128 + SIGKILL, "the victim ended otherwise");
    const hcommUniqueId two = notice.give(1);
    carry_on(*joined(2, two, 0));
    notice.wait_until_taken();
  }
  expect(before.stays(), "descriptors or threads pile up");
}

void survivor_1(Notice& notice) {
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    see_the_death(joined(3, notice.take(2 * cycle + 1), 1));
    carry_on(*joined(2, notice.take(2 * cycle + 2), 1));
  }
}

CollectiveCall one_call(Collective collective, std::vector<int>& send, std::vector<int>& recv) {
  CollectiveCall call{.collective = collective, .send = send.data(), .recv = recv.data(), .count = 50, .dtype = hcommInt32};
  if (collective == Collective::barrier) call = {.collective = collective};
  return call;
}

// Rank 0, the root, does not come before the others have given up. Of a reduce and a gather, it is rank 1 that does not, because
// the root waits for all others; those may have nothing to wait for.
void late_for_ever(Collective collective, std::string_view algorithm, const char* transport) {
  Settings settings = settings_for(algorithm, transport);
  settings.timeout_ns = 60 * kMillisecond;
  std::atomic<int> given_up{0};
  const bool ends_at_root = !has_output(collective, false) && has_root(collective);
  const int late = ends_at_root ? 1 : 0;
  testing::run_world(3, settings, [&](Communicator& rank) {
    std::vector<int> send(150, 1), recv(150);
    for (int i = 0; rank.rank() == late && given_up < 2 && i < 60'000; ++i) usleep(1000);
    const Status status = rank.run(one_call(collective, send, recv));
    ++given_up;
    if (status.ok() && ends_at_root && rank.rank() == 2) return;
    expect(status.code() == hcommTimeout, "not a timeout: " + std::string(status.trail()));
    const std::string who = "rank " + std::to_string(late);
    expect(status.trail().find(who) != std::string_view::npos, "who is late is not named: " + std::string(status.trail()));
  });
}

void late_in_time(Collective collective, std::string_view algorithm, const char* transport) {
  testing::run_world(3, settings_for(algorithm, transport), [&](Communicator& rank) {
    std::vector<int> send(150, 1), recv(150);
    if (rank.rank() == 0) usleep(80'000);
    testing::require(rank.run(one_call(collective, send, recv)));
  });
}

}  // namespace

TEST_CASE("B073 B088 survivors of a killed rank get an error, no signal, and then rest", "[process]") {
  constexpr int kVictim = 1;
  const auto ended = testing::run_processes(
      3, settings_for("adaptive", "shm"),
      [](Communicator& rank) -> std::string {
        std::vector<int> send(1 << 20, 1), recv(1 << 20);
        hcommResult_t result = hcommSuccess;
        for (int round = 0; round < 1'000'000 && result == hcommSuccess; ++round) {
          if (rank.rank() == kVictim && round == 20) kill(getpid(), SIGKILL);
          result = rank.run(allreduce_of(send, recv)).code();
        }
        const double before = cpu_seconds();
        usleep(1'000'000);
        const double used = cpu_seconds() - before;
        if (used > 0.3) return "still busy for " + std::to_string(used) + " s";
        if (!has_usual_action(SIGPIPE)) return "SIGPIPE was tampered with";
        return result == hcommRemoteError ? "told" : "not told";
      });
  for (int rank = 0; rank < 3; ++rank) {
    const auto& each = ended[static_cast<std::size_t>(rank)];
    INFO("rank " << rank << ": " << each.report);
    if (rank == kVictim) continue;
    CHECK(WIFEXITED(each.wait_status));
    CHECK(each.report == "told");
  }
}

TEST_CASE("B076 survivors make a new communicator in the same process, 20 times", "[process]") {
  const testing::Shared<Notice> notice;
  const int shared_before = testing::entries("/dev/shm");
  const pid_t first = forked([&] { survivor_0(*notice); });
  const pid_t second = forked([&] { survivor_1(*notice); });
  CHECK(exit_code(first) == 0);
  CHECK(exit_code(second) == 0);
  CHECK(testing::entries("/dev/shm") == shared_before);
}

TEST_CASE("B082 a communicator whose peer died is ended without delay", "[process]") {
  const auto ended = testing::run_processes(3, settings_for("adaptive", "shm"), [](Communicator& rank) -> std::string {
    testing::sum_of_one(rank, 1, 3);
    if (rank.rank() == 2) kill(getpid(), SIGKILL);
    return "ended";  // run_processes ends the communicator, which has an undelivered death
  });
  for (int rank = 0; rank < 2; ++rank) CHECK(ended[static_cast<std::size_t>(rank)].report == "ended");
}

TEST_CASE("B086 every collective and algorithm keeps the timeout that was set") {
  for (const Collective collective : kCollectives) {
    for (const std::string_view algorithm : algorithm_names()) {
      INFO(name(collective) << " " << algorithm);
      REQUIRE_NOTHROW(late_for_ever(collective, algorithm, "shm"));
    }
    REQUIRE_NOTHROW(late_for_ever(collective, "adaptive", "loopback"));
  }
}

TEST_CASE("B086 every collective and algorithm waits for a rank that is late but in time") {
  for (const Collective collective : kCollectives) {
    for (const std::string_view algorithm : algorithm_names()) {
      INFO(name(collective) << " " << algorithm);
      REQUIRE_NOTHROW(late_in_time(collective, algorithm, "shm"));
    }
  }
}

TEST_CASE("B097 eight ranks on the cores there are finish a thousand allreduces", "[process]") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{8192}}) {
    const auto ended = testing::run_processes(8, settings_for("adaptive", "shm"), [&](Communicator& rank) -> std::string {
      for (int round = 0; round < 1000; ++round) testing::sum_of_one(rank, rank.rank() + round, 28 + 8 * round, count);
      return "right";
    });
    for (const auto& each : ended) CHECK(each.report == "right");
  }
}

TEST_CASE("B098 a rank that waits two seconds sleeps through most of them", "[process]") {
  for (const Collective collective : {Collective::barrier, Collective::allreduce}) {
    const auto ended = testing::run_processes(3, settings_for("adaptive", "shm"), [&](Communicator& rank) -> std::string {
      std::vector<int> send(150, 1), recv(150);
      testing::require(rank.run(one_call(collective, send, recv)));
      if (rank.rank() == 0) usleep(2'000'000);
      const double before = cpu_seconds();
      testing::require(rank.run(one_call(collective, send, recv)));
      const double used = cpu_seconds() - before;
      return used < 1.0 ? "slept" : "busy for " + std::to_string(used) + " s";
    });
    INFO(name(collective));
    for (const auto& each : ended) CHECK(each.report == "slept");
  }
}

TEST_CASE("B103 a communicator of one rank has no thread, descriptor or shared memory") {
  const int descriptors = testing::entries("/proc/self/fd"), threads = testing::entries("/proc/self/task");
  const auto alone = testing::make_world(1, {});
  for (const std::string_view algorithm : algorithm_names()) {
    const auto one = testing::make_world(1, settings_for(algorithm, ""));
    testing::sum_of_one(*one[0], 7, 7, 1000);
  }
  testing::sum_of_one(*alone[0], 7, 7, 1000);
  CHECK(testing::entries("/proc/self/fd") <= descriptors);  // what earlier tests left may still be closing
  CHECK(testing::entries("/proc/self/task") <= threads);
}

// The id is served by a thread with a socket, until the one rank has come.
TEST_CASE("B103 ids of one rank leave nothing behind") {
  const Tally before;
  for (int round = 0; round < 25; ++round) {
    hcommUniqueId id;
    testing::require(make_unique_id(id));
    testing::sum_of_one(*joined(1, id, 0), 7, 7);
  }
  CHECK(before.stays());
}

}  // namespace hcomm
