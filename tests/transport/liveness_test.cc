// Death, leaving, forks, and that nothing is left behind.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "base/child.h"
#include "base/process.h"
#include "base/shared.h"
#include "team.h"
#include "transport/keeper.h"
#include "transport/peer_windows.h"
#include "transport/shm.h"

namespace hcomm::test {
namespace {

// TSan does not let the child of a process with threads start one.
#if defined(__SANITIZE_THREAD__)
constexpr bool kChildrenMayStartThreads = false;
#else
constexpr bool kChildrenMayStartThreads = true;
#endif

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

// A line on memory of this process, for the functions that need no keeper.
struct FakeLine {
  std::array<Pulse, 3> pulses;
  std::array<Doorbell, 3> doorbells;
  std::array<Life, 3> lives;
  VerdictCell cell;
  LifeLine line{.ranks = 3, .self = 0, .pulses = pulses.data(), .doorbells = doorbells.data(), .board = {3, lives.data(), &cell}};
};

TEST_CASE("a killed process is seen by all survivors, and they know which one it was") {
  for (int victim = 0; victim < 4; ++victim) {
    const std::string report = run_team({.kind = Kind::shm_processes, .ranks = 4}, [victim](Transport& transport, int rank) {
      meet(transport, 1);
      if (rank == victim) raise(SIGKILL);
      Board& board = transport.board();
      turn_until(transport, [&] { return board.is_dead(victim); });
      expect(!board.has_left(victim), "counts as left in good order");
      expect(board.pid(victim) > 0 && board.pid(victim) != getpid(), "no pid of the victim");
      for (int other = 0; other < 4; ++other) {
        expect(other == victim || !board.is_dead(other) || board.has_left(other), "more than one died");
      }
    });
    CHECK(report == "rank " + std::to_string(victim) + ": signal 9\n");
  }
}

// Shared with the children.
struct DeathClock {
  std::atomic<TimeNs> died{0};
  std::atomic<int> seen_soon{0};
};

TEST_CASE("a death wakes those who sleep at once") {
  // The victim stays a zombie until the team is collected, so that only its pulse can tell. Without the kernel's wake-up a
  // death would be found by the keeper's next round, half a second later on average.
  const testing::Shared<DeathClock> shared;
  DeathClock& deaths = *shared;
  constexpr int kDeaths = 8;
  for (int death = 0; death < kDeaths; ++death) {
    const std::string report = run_team({.kind = Kind::shm_processes, .ranks = 3}, [&deaths](Transport& transport, int rank) {
      const MonotonicClock clock;
      Window& window = *transport.window();
      meet(transport, 1);
      if (rank == 2) {
        const auto sleeps = [&](int peer) { return window.doorbells[peer].sleeping.load() != 0; };
        for (int look = 0; look < 100000 && !(sleeps(0) && sleeps(1)); ++look) std::this_thread::yield();
        deaths.died = clock.now();
        raise(SIGKILL);
      }
      turn_until(transport, [&] { return transport.board().is_dead(2); });
      if (rank == 0 && clock.now() - deaths.died < 100 * kMillisecond) ++deaths.seen_soon;
    });
    CHECK(report == "rank 2: signal 9\n");
  }
  CHECK(deaths.seen_soon >= kDeaths / 2);
}

TEST_CASE("several that die at once are all seen") {
  const std::string report = run_team({.kind = Kind::shm_processes, .ranks = 6}, [](Transport& transport, int rank) {
    meet(transport, 1);
    if (rank >= 2 && rank <= 4) raise(SIGKILL);
    turn_until(transport, [&] {
      return transport.board().is_dead(2) && transport.board().is_dead(3) && transport.board().is_dead(4);
    });
    for (int victim = 2; victim <= 4; ++victim) expect(!transport.board().has_left(victim), "counts as left");
  });
  CHECK(report == "rank 2: signal 9\nrank 3: signal 9\nrank 4: signal 9\n");
}

TEST_CASE("a process that just ends counts as dead") {
  const std::string report = run_team({.kind = Kind::shm_processes, .ranks = 2}, [](Transport& transport, int rank) {
    meet(transport, 1);
    if (rank == 1) _exit(0);
    turn_until(transport, [&] { return transport.board().is_dead(1); });
    expect(!transport.board().has_left(1), "counts as left");
  });
  CHECK(report == "");
}

TEST_CASE("a death during a message is seen by the receiver, who still waits") {
  const std::string report = run_team({.kind = Kind::shm_processes, .ranks = 2}, [](Transport& transport, int rank) {
    std::vector<std::byte> message(1 << 20);
    Completion completion;
    if (rank == 1) {
      send(transport, 0, Lane::collective, message, completion);
      meet(transport, 1);
      raise(SIGKILL);
    }
    meet(transport, 1);
    recv(transport, 1, Lane::collective, message, completion);
    turn_until(transport, [&] { return transport.board().is_dead(1); });
    transport.poll();
    expect(!completion.finished, "half a message was taken for a whole one");
  });
  CHECK(report == "rank 1: signal 9\n");
}

TEST_CASE("a rank outlives the thread that opened it") {
  std::vector<std::unique_ptr<Transport>> ranks;
  std::thread([&] { ranks = open_all({.kind = Kind::shm_threads, .ranks = 3}); }).join();
  for (int look = 0; look < 10; ++look) {
    ranks[0]->arm();
    ranks[0]->sleep(2 * kMillisecond);
    for (int rank = 0; rank < 3; ++rank) CHECK_FALSE(ranks[0]->board().is_dead(rank));
  }
}

TEST_CASE("a rank is opened once, and does not come back") {
  const int fd = create_segment(shm_segment_bytes(2, 2, 4096, kDefaultRingBytes, 2)).value();
  auto first = open_shm({.segment_fd = fd, .rank = 1, .ranks = 2});
  REQUIRE(first.ok());
  const auto second = open_shm({.segment_fd = fd, .rank = 1, .ranks = 2});
  CHECK(second.status().code() == hcommInvalidUsage);
  CHECK(second.status().trail().find("already in use") != std::string_view::npos);
  CHECK(open_shm({.segment_fd = fd, .context = 1, .rank = 1, .ranks = 2}).ok());
  { const auto gone = std::move(first).value(); }
  CHECK(open_shm({.segment_fd = fd, .rank = 1, .ranks = 2}).status().trail().find("has left") != std::string_view::npos);
  CHECK(open_shm({.segment_fd = fd, .rank = 2, .ranks = 2}).status().code() == hcommInvalidArgument);
  close(fd);
}

TEST_CASE("the child of a fork owns nothing and harms nobody") {
  const int fd = create_segment(shm_segment_bytes(2, 2, 4096, kDefaultRingBytes, 2)).value();
  auto ranks = std::vector<std::unique_ptr<Transport>>();
  for (int rank = 0; rank < 2; ++rank) ranks.push_back(open_shm({.segment_fd = fd, .rank = rank, .ranks = 2}).value());
  const std::uint32_t parent = fork_generation();
  CHECK(testing::exit_code_of([&] {
    int wrong = fork_generation() == parent ? 1 : 0;
    ranks.clear();
    if (kChildrenMayStartThreads) {
      auto own = open_shm({.segment_fd = fd, .context = 1, .rank = 0, .ranks = 2});
      wrong += own.ok() ? 0 : 2;
    }
    return wrong;
  }) == 0);
  CHECK_FALSE(ranks[0]->board().is_dead(0));
  CHECK_FALSE(ranks[0]->board().is_dead(1));
  const auto data = pattern(100, 1);
  std::vector<std::byte> got(100);
  std::array<Completion, 2> done;
  send(*ranks[0], 1, Lane::collective, data, done[0]);
  recv(*ranks[1], 0, Lane::collective, got, done[1]);
  CHECK(done[1].finished);
  CHECK(got == data);
  close(fd);
}

TEST_CASE("a process that is gone is found even if its keeper never told") {
  const pid_t child = testing::forked([] {});
  CHECK(testing::exit_code(child) == 0);
  FakeLine fake;
  fake.lives[1].pid = child;
  fake.lives[2].pid = child;
  fake.pulses[1].pid_namespace = own_pid_namespace();
  fake.pulses[2].pid_namespace = own_pid_namespace() + 1;  // there the number means another process
  fake.lives[0].pid = getpid();
  check_processes(fake.line);
  CHECK(fake.line.board.is_dead(1));
  CHECK_FALSE(fake.line.board.is_dead(2));
  CHECK(fake.doorbells[0].word.load() == 1);
  for (const int hostile : {0, -1, INT32_MIN}) {  // kill() would take these for groups
    fake.lives[2].pid = hostile;
    fake.pulses[2].pid_namespace = own_pid_namespace();
    check_processes(fake.line);
    CHECK_FALSE(fake.line.board.is_dead(2));
  }
}

std::vector<std::unique_ptr<Transport>> open_contexts(int fd, int contexts, int rank) {
  std::vector<std::unique_ptr<Transport>> opened;
  for (int context = 0; context < contexts; ++context) {
    auto transport = open_shm({.segment_fd = fd,
                               .context = context,
                               .rank = rank,
                               .ranks = 2,
                               .slots = 1,
                               .slot_bytes = 64,
                               .ring_bytes = 256});
    opened.push_back(std::move(transport).value());
  }
  return opened;
}

TEST_CASE("many communicators of one process are all watched") {
  constexpr int kContexts = 200;  // more than the kernel waits for at once
  const int fd = create_segment(shm_segment_bytes(2, 1, 64, 256, kContexts)).value();
  const pid_t child = testing::forked([&] {
    const auto own = open_contexts(fd, kContexts, 1);
    for (int look = 0; look < 20000 && own.back()->board().pid(0) == 0; ++look) usleep(1000);
    raise(SIGKILL);
  });
  const auto own = open_contexts(fd, kContexts, 0);
  for (const auto& transport : own) {
    turn_until(*transport, [&] { return transport->board().is_dead(1); });
    CHECK_FALSE(transport->board().has_left(1));
  }
  CHECK(testing::exit_code(child) == 128 + SIGKILL);
  close(fd);
}

TEST_CASE("nothing is left behind: no descriptor, no thread, no file") {
  const std::size_t descriptors = entries("/proc/self/fd");
  const std::size_t threads = entries("/proc/self/task");
  const std::size_t files = entries("/dev/shm");
  for (const Kind kind : {Kind::loopback, Kind::shm_threads, Kind::shm_processes}) {
    const std::string report = run_team({.kind = kind, .ranks = 3}, [kind](Transport& transport, int rank) {
      meet(transport, 1);
      if (kind == Kind::shm_processes && rank == 1) raise(SIGKILL);
    });
    CHECK(report == (kind == Kind::shm_processes ? "rank 1: signal 9\n" : ""));
  }
  CHECK(entries("/proc/self/fd") == descriptors);
  CHECK(entries("/proc/self/task") == threads);
  CHECK(entries("/dev/shm") == files);
}

TEST_CASE("the keeper is one thread however many ranks there are, has a name and blocks all signals") {
  const auto count_keepers = [] {
    int keepers = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      keepers += read_file(task.path().string() + "/comm") == "hcomm-keeper\n" ? 1 : 0;
    }
    return keepers;
  };
  CHECK(count_keepers() == 0);
  auto some = open_all({.kind = Kind::shm_threads, .ranks = 3});
  auto others = open_all({.kind = Kind::shm_threads, .ranks = 2});
  CHECK(count_keepers() == 1);
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (read_file(task.path().string() + "/comm") != "hcomm-keeper\n") continue;
    const std::string status = read_file(task.path().string() + "/status");
    // All but SIGKILL, SIGSTOP and the two that the C library keeps for itself.
    CHECK(status.find("SigBlk:\tfffffffe7ffbfeff\n") != std::string::npos);
  }
  some.clear();
  CHECK(count_keepers() == 1);
  others.clear();
  CHECK(count_keepers() == 0);
}

}  // namespace
}  // namespace hcomm::test
