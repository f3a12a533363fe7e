// Making communicators: by several threads at once, with ranks that are late, by many ranks, in namespaces of their own.
#include <catch2/catch.hpp>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "base/child.h"
#include "base/random.h"
#include "comm/init.h"
#include "comm/world.h"
#include "support.h"
#include "transport/peer_windows.h"

namespace hcomm {
namespace {

using testing::exit_code;
using testing::expect;
using testing::forked;
using testing::settings_for;

// Runs the bodies as threads; the first text that one throws, or "".
class Threads {
 public:
  template <class Body>
  void add(Body body) {
    threads_.emplace_back([this, body] {
      try {
        body();
      } catch (const std::exception& problem) {
        const std::lock_guard lock(mutex_);
        if (problem_.empty()) problem_ = problem.what();
      }
    });
  }
  std::string join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return std::exchange(problem_, {});
  }

 private:
  std::mutex mutex_;
  std::string problem_;
  std::vector<std::thread> threads_;
};

std::unique_ptr<Communicator> joined(int ranks, const hcommUniqueId& id, int rank, const Settings& settings) {
  auto made = init_rank(ranks, id, rank, settings);
  testing::require(made.status());
  return std::move(made).value();
}

// Joins and adds up at once.
void join_and_sum(int ranks, const hcommUniqueId& id, int rank, long value, long expected) {
  const auto self = joined(ranks, id, rank, settings_for("adaptive", "shm"));
  expect(self->rank() == rank && self->ranks() == ranks, "a rank of another communicator");
  testing::sum_of_one(*self, value, expected, 100);
}

// The namespaces of all ranks, as each rank learns them from the others.
void expect_no_windows(Communicator& self) {
  std::vector<long> own{static_cast<long>(own_pid_namespace()), getpid()}, all(4);
  testing::require(self.run({.collective = Collective::allgather, .send = own.data(), .recv = all.data(), .count = 2,
                             .dtype = hcommInt64}));
  expect(all[0] != all[2], "both ranks are in one namespace");
  expect(all[1] == all[3], "the pids differ, so they prove nothing");
  for (const std::size_t at : {std::size_t{0}, std::size_t{2}}) {
    const PeerProcess peer{static_cast<int>(all[at + 1]), static_cast<std::uint64_t>(all[at])};
    const bool is_self = static_cast<std::uint64_t>(all[at]) == own_pid_namespace();
    expect(is_self || !can_map_peers({&peer, 1}), "a process of another namespace was taken for one of this");
  }
}

// A rank that is process 1 of a pid namespace of its own.
void rank_in_its_namespace(const hcommUniqueId& id, int rank) {
  expect(unshare(CLONE_NEWPID) == 0, "no namespace");
  const pid_t inner = forked([&] {
    const auto self = joined(2, id, rank, settings_for("adaptive", "shm"));
    expect_no_windows(*self);
    for (const std::size_t count : {std::size_t{128}, std::size_t{1} << 17, std::size_t{1} << 21}) {
      testing::sum_of_one(*self, rank + 1, 3, count);
    }
    usleep(1'500'000);  // longer than the rounds in which the deaths of processes are looked for
    testing::sum_of_one(*self, rank + 2, 5, 100);
  });
  expect(exit_code(inner) == 0, "the rank failed");
}

bool can_make_pid_namespaces() {
  return exit_code(forked([] { expect(unshare(CLONE_NEWPID) == 0, "this user may not make pid namespaces"); })) == 0;
}

}  // namespace

TEST_CASE("B034 threads of two processes join four ids at once") {
  for (int round = 0; round < 10; ++round) {
    hcommUniqueId ids[4];
    for (hcommUniqueId& id : ids) testing::require(make_unique_id(id));
    const auto four_threads = [&](int rank) {
      Threads threads;
      for (int which = 0; which < 4; ++which) {
        threads.add([&ids, which, rank] { join_and_sum(2, ids[which], rank, 10 * which + rank, 20 * which + 1); });
      }
      const std::string problem = threads.join();
      expect(problem.empty(), problem);
    };
    const pid_t child = forked([&] { four_threads(1); });
    REQUIRE(child > 0);
    REQUIRE_NOTHROW(four_threads(0));
    CHECK(exit_code(child) == 0);
  }
}

TEST_CASE("B034 four threads of one process are the four ranks of one id") {
  for (int round = 0; round < 20; ++round) {
    hcommUniqueId id;
    testing::require(make_unique_id(id));
    Threads threads;
    for (int rank = 0; rank < 4; ++rank) threads.add([&, rank] { join_and_sum(4, id, rank, 1 << rank, 15); });
    CHECK(threads.join() == "");
  }
}

TEST_CASE("B035 two communicators used at once by threads, and by the other rank in the other order") {
  for (const char* const transport : {"loopback", "shm"}) {
    const Settings settings = settings_for("adaptive", transport);
    const auto a = testing::make_world(2, settings), b = testing::make_world(2, settings);
    Threads threads;
    const auto repeat = [](Communicator& rank) {
      for (int round = 0; round < 500; ++round) testing::sum_of_one(rank, rank.rank() + round, 2 * round + 1, 10);
    };
    threads.add([&] { repeat(*a[0]); });
    threads.add([&] { repeat(*b[0]); });
    threads.add([&] {
      for (int round = 0; round < 500; ++round) {
        for (Communicator* const each : {b[1].get(), a[1].get()}) testing::sum_of_one(*each, 1 + round, 2 * round + 1, 10);
      }
    });
    CHECK(threads.join() == "");
  }
}

TEST_CASE("B035 blocking calls crossed over two communicators end by timeout, never hang") {
  Settings settings = settings_for("adaptive", "shm");
  settings.timeout_ns = 200 * kMillisecond;
  const auto a = testing::make_world(2, settings), b = testing::make_world(2, settings);
  const auto answer = [](Communicator& rank) {
    std::vector<int> send(10, 1), recv(10);
    return rank.run(testing::allreduce_of(send, recv)).code();
  };
  hcommResult_t first[2] = {}, second[2] = {};
  Threads threads;
  threads.add([&] { first[0] = answer(*a[0]), second[0] = answer(*b[0]); });
  threads.add([&] { first[1] = answer(*b[1]), second[1] = answer(*a[1]); });
  CHECK(threads.join() == "");
  // Whoever gave up first; the other one may then have met it on the second communicator.
  CHECK((first[0] == hcommTimeout || first[1] == hcommTimeout));
  for (const hcommResult_t code : {first[0], first[1], second[0], second[1]}) {
    CHECK((code == hcommTimeout || code == hcommSuccess));
  }
}

TEST_CASE("B037 late ranks are waited for, and what is sent at once after init arrives") {
  Random random(37);
  for (int round = 0; round < 45; ++round) {
    hcommUniqueId id;
    testing::require(make_unique_id(id));
    const auto pause = static_cast<useconds_t>(random.below(30'000));
    Threads threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.add([&, rank] {
        if (rank == round % 3) usleep(pause);
        const auto self = joined(3, id, rank, settings_for("adaptive", "shm"));
        if (round % 2 == 0) testing::sum_of_one(*self, rank, 3);
        // In the other rounds ranks end as soon as they were made.
      });
    }
    INFO("round " << round << ", rank " << round % 3 << " late by " << pause << " us");
    CHECK(threads.join() == "");
  }
}

TEST_CASE("B041 64 and 128 ranks in one process") {
  for (const int ranks : {64, 128}) {
    for (const char* const transport : {"loopback", "shm"}) {
      INFO(ranks << " ranks, " << transport);
      REQUIRE_NOTHROW(testing::run_world(ranks, settings_for("adaptive", transport), [](Communicator& rank) {
        const long most = rank.ranks();
        for (int round = 0; round < 3; ++round) testing::sum_of_one(rank, rank.rank(), most * (most - 1) / 2);
        testing::require(rank.run({.collective = Collective::barrier}));
        std::vector<long> all(static_cast<std::size_t>(most));
        const long own = 3 * rank.rank();
        testing::require(rank.run(
            {.collective = Collective::allgather, .send = &own, .recv = all.data(), .count = 1, .dtype = hcommInt64}));
        for (long peer = 0; peer < most; ++peer) expect(all[static_cast<std::size_t>(peer)] == 3 * peer, "a wrong part");
      }));
    }
  }
}

TEST_CASE("B050 ranks that are process 1 of their own pid namespaces are told apart and serve no windows", "[process]") {
  if (!can_make_pid_namespaces()) {
    WARN("skipped: this user may not make pid namespaces");
    return;
  }
  hcommUniqueId id;
  testing::require(make_unique_id(id));
  pid_t outer[2];
  for (int rank = 0; rank < 2; ++rank) outer[rank] = forked([&] { rank_in_its_namespace(id, rank); });
  for (const pid_t each : outer) CHECK(exit_code(each) == 0);
}

}  // namespace hcomm
