// Goal: what goes wrong inside one process is told in full, ends every waiter, and stays told.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/child.h"
#include "comm/group.h"
#include "comm/open.h"
#include "comm/verdict_text.h"
#include "world.h"

namespace hcomm {
namespace {

Settings quick(std::string_view transport, TimeNs timeout) {
  Settings settings;
  settings.transport = transport;
  settings.timeout_ns = timeout;
  return settings;
}

struct Sum {
  int send = 1;
  int recv = 0;
  CollectiveCall call() {
    return {.collective = Collective::allreduce, .send = &send, .recv = &recv, .count = 1, .dtype = hcommInt32};
  }
};

}  // namespace

TEST_CASE("a rank that does not come is named when the time is up, and for good") {
  for (const char* const transport : {"loopback", "shm"}) {
    for (const char* const algo : {"flat", "ring"}) {
      Settings settings = quick(transport, 200 * kMillisecond);
      settings.algo = algo;
      const auto world = testing::make_world(3, settings);
      std::vector<std::string> told(3);
      testing::run_ranks(world, [&](Communicator& rank) {
        Sum sum;
        testing::require(rank.run(sum.call()));
        if (rank.rank() == 2) return;
        const Status status = rank.run(sum.call());
        if (status.code() != hcommTimeout) throw std::runtime_error("no timeout: " + std::string(status.trail()));
        told[static_cast<std::size_t>(rank.rank())] = std::string(status.trail());
        if (rank.run(sum.call()).code() != hcommTimeout) throw std::runtime_error("the error did not stay");
        if (rank.async_error() != hcommTimeout) throw std::runtime_error("the error is not asked for");
      });
      for (int rank = 0; rank < 2; ++rank) {
        INFO(transport << " " << algo);
        CHECK_THAT(told[static_cast<std::size_t>(rank)],
                   Catch::Contains("operation 1, allreduce(count 1, int32, sum)") && Catch::Contains("in time"));
      }
      CHECK_THAT(told[0] + told[1], Catch::Contains("rank 2"));
      // Who came too late learns of it, too.
      Sum late;
      CHECK(world[2]->run(late.call()).code() == hcommTimeout);
    }
  }
}

TEST_CASE("abort ends who waits, from any thread, and whoever comes later") {
  for (const char* const transport : {"loopback", "shm"}) {
    const auto world = testing::make_world(2, quick(transport, 60 * kSecond));
    std::atomic<bool> inside{false};
    std::thread waiting([&] {
      Sum sum;
      inside = true;
      CHECK(world[0]->run(sum.call()).code() == hcommAborted);
    });
    while (!inside) std::this_thread::yield();
    world[0]->abort();
    waiting.join();
    world[0]->abort();  // again is harmless
    Sum sum;
    CHECK(world[1]->run(sum.call()).code() == hcommAborted);
    CHECK_THAT(world[1]->failure_text(), Catch::Contains("rank 0") && Catch::Contains("aborted"));
  }
}

// The first meeting is bounded as the making of a communicator is, also where operations wait for ever.
TEST_CASE("a rank that does not come to the agreement is named after HCOMM_CONNECT_TIMEOUT") {
  auto opened = open_all("loopback", {.ranks = 2}, {.slots = 2, .slot_bytes = 4096, .ring_bytes = 4096});
  testing::require(opened.status());
  Settings settings = quick("loopback", kNever);
  settings.connect_timeout_ns = 100 * kMillisecond;
  Communicator early({.rank = 0, .ranks = 2, .settings = settings, .transport = std::move(opened.value()[0])});
  testing::require(early.begin_agreement());
  Communicator* const self = &early;
  const Status status = wait_for({&self, 1});
  CHECK(status.code() == hcommTimeout);
  CHECK_THAT(std::string(status.trail()), Catch::Contains("rank 1") && Catch::Contains("HCOMM_CONNECT_TIMEOUT"));
}

// One rank makes another call than the others: an error on all who wait, soon, and no result that looks right.
TEST_CASE("calls that do not fit are a mismatch on every rank, whatever the algorithm") {
  for (const char* const transport : {"loopback", "shm"}) {
    for (const char* const algo : {"flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree", "adaptive"}) {
      for (const char* const change : {"count", "large count", "dtype", "op", "collective"}) {
        Settings settings = quick(transport, 60 * kSecond);
        settings.algo = algo;
        testing::run_world(3, settings, [&](Communicator& rank) {
          std::vector<double> send(100'000, 1), recv(100'000);
          CollectiveCall call{.collective = Collective::allreduce, .send = send.data(), .recv = recv.data(), .count = 2,
                              .dtype = hcommFloat32};
          testing::require(rank.run(call));
          if (rank.rank() == 1) {
            const std::string_view what = change;
            if (what == "count") call.count = 3;
            if (what == "large count") call.count = 100'000;
            if (what == "dtype") call.dtype = hcommInt32;
            if (what == "op") call.op = hcommMax;
            if (what == "collective") call = {.collective = Collective::barrier};
          }
          const Status status = rank.run(call);
          if (status.code() == hcommMismatch) return;
          if (status.ok() && rank.run(call).code() == hcommMismatch) return;  // it needed nobody any more; now it learns
          throw std::runtime_error(std::string(algo) + ", " + change + ": no mismatch: " + std::string(status.trail()));
        });
      }
    }
  }
}

// Convention 1.
TEST_CASE("two threads in one communicator: the second is refused, the first goes on") {
  const auto world = testing::make_world(2, quick("loopback", 60 * kSecond));
  std::atomic<bool> refused{false};
  std::thread first([&] {
    Sum sum;
    Status status = world[0]->run(sum.call());
    while (status.code() == hcommInvalidUsage) status = world[0]->run(sum.call());  // the second was inside for a moment
    CHECK(status.code() == hcommSuccess);
    CHECK(sum.recv == 2);
  });
  std::thread second([&] {
    for (int i = 0; i < 1'000'000 && !refused; ++i) {
      if (world[0]->reserve().code() == hcommInvalidUsage) {
        refused = true;
      } else {
        world[0]->release();
        std::this_thread::yield();
      }
    }
  });
  second.join();
  Sum sum;
  std::thread peer([&] { testing::require(world[1]->run(sum.call())); });
  first.join();
  peer.join();
  CHECK(refused);
  CHECK(sum.recv == 2);
}

// Convention 2.
TEST_CASE("one thread, two ranks: refused outside a group, served inside one") {
  const auto world = testing::make_world(2, quick("loopback", 60 * kSecond));
  Sum sums[2];
  const Status refused = world[0]->run(sums[0].call());
  CHECK(refused.code() == hcommInvalidUsage);
  CHECK_THAT(std::string(refused.trail()), Catch::Contains("hcommGroupStart"));
  for (int round = 0; round < 3; ++round) {
    group_start();
    for (std::size_t rank = 0; rank < 2; ++rank) testing::require(group_record(*world[rank], sums[rank].call()));
    testing::require(group_end());
    for (const Sum& sum : sums) CHECK(sum.recv == 2);
  }
}

// Convention 3.
TEST_CASE("a group with a refused call issues none") {
  const auto world = testing::make_world(2, quick("loopback", 60 * kSecond));
  Sum sums[2];
  CollectiveCall bad = sums[1].call();
  bad.recv = nullptr;
  group_start();
  group_start();
  testing::require(group_record(*world[0], sums[0].call()));
  CHECK(group_record(*world[1], bad).code() == hcommInvalidArgument);
  testing::require(group_end());
  const Status refused = group_end();
  CHECK(refused.code() == hcommInvalidArgument);
  CHECK_THAT(std::string(refused.trail()), Catch::Contains("none of its calls was issued"));
  CHECK(sums[0].recv == 0);
  CHECK(group_end().code() == hcommInvalidUsage);
  group_start();
  for (int rank = 0; rank < 2; ++rank) testing::require(group_record(*world[static_cast<std::size_t>(rank)], sums[rank].call()));
  testing::require(group_end());
  CHECK(sums[1].recv == 2);
}

// Convention 7 and B043: a child of fork owns nothing, and its exit does not disturb the parent's ranks.
TEST_CASE("the child of a fork is refused", "[process]") {
  for (const char* const transport : {"loopback", "shm"}) {
    const auto world = testing::make_world(2, quick(transport, 60 * kSecond));
    CHECK(testing::exit_code_of([&] {
      Sum sum;
      return world[0]->run(sum.call()).code() == hcommInvalidUsage ? 0 : 1;
    }) == 0);
    testing::run_ranks(world, [](Communicator& rank) {
      Sum sum;
      testing::require(rank.run(sum.call()));
      if (sum.recv != 2) throw std::runtime_error("wrong sum after a fork");
    });
  }
}

TEST_CASE("a forced algorithm that is none, and other bad names, are refused when the communicator is made") {
  const auto refusal = [](Settings settings) {
    try {
      testing::make_world(2, settings);
    } catch (const std::exception& refused) {
      return std::string(refused.what());
    }
    return std::string("accepted");
  };
  Settings settings;
  settings.algo = "rign";
  CHECK_THAT(refusal(settings), Catch::Contains("rign") && Catch::Contains("ring"));
  settings = {};
  settings.transport = "foo";
  CHECK_THAT(refusal(settings), Catch::Contains("foo") && Catch::Contains("shm"));
  settings = {};
  settings.buffer_bytes = 64;
  CHECK_THAT(refusal(settings), Catch::Contains("HCOMM_BUFFSIZE"));
}

TEST_CASE("verdicts read as sentences") {
  const CallWords sum{.collective = Collective::allreduce, .dtype = hcommFloat32, .count = 100, .number = 8};
  const CallWords shown{.collective = Collective::broadcast, .dtype = hcommInt8, .root = 1, .count = 5, .number = 7};
  Verdict verdict{.reason = Reason::died, .culprit = 2, .pid = 4711, .writer = 1, .witness = 1, .culprit_call = shown,
                  .witness_call = sum};
  const std::string without_2 = "; destroy this communicator and make a new one without rank 2";
  CHECK(verdict_text(verdict, 0, operation_text(sum)) ==
        "rank 2 (pid 4711) died; its latest call is operation 6, broadcast(count 5, int8, root 1), as rank 1 saw in operation 7, "
        "allreduce(count 100, float32, sum); this is rank 0 in operation 7, allreduce(count 100, float32, sum)" + without_2);
  verdict.reason = Reason::timed_out;
  verdict.host = host_name("node7");
  verdict.culprit_call.reset();
  verdict.late = 4;
  verdict.more_late[0] = 3;
  CHECK(verdict_text(verdict, 1, "a call") ==
        "rank 2 (pid 4711 on node7), 3 and 2 more did not come in time (HCOMM_TIMEOUT, or HCOMM_CONNECT_TIMEOUT when first "
        "meeting); this is rank 1 in a call" + without_2);
  verdict.reason = Reason::stuck;
  verdict.signalled = 1;
  CHECK(verdict_text(verdict, 1, "a call") ==
        "rank 2 (pid 4711 on node7) is stuck: it came, and has stood still for HCOMM_PEER_TIMEOUT, after its signal 'filled'; "
        "this is rank 1 in a call" + without_2);
  verdict = {.reason = Reason::mismatch, .culprit = 2, .writer = 1, .witness = 0, .culprit_call = sum, .witness_call = sum};
  verdict.culprit_call->count = 101;
  const std::string all_alike = "; all ranks must make the same calls in the same order, with the same count, type, op and root";
  CHECK(verdict_text(verdict, 0, "a call") ==
        "rank 2 made another call than rank 0: operation 7 is allreduce(count 100, float32, sum) on rank 0 and "
        "allreduce(count 101, float32, sum) on rank 2, as rank 1 saw; this is rank 0 in a call" + all_alike);
  verdict.culprit_call = shown;
  CHECK_THAT(verdict_text(verdict, 0, "a call"), Catch::Contains("parted some calls ago; rank 0 is in operation 7, allreduce") &&
                                                     Catch::Contains("and rank 2 in operation 6, broadcast"));
  CHECK(operation_text({.collective = Collective::barrier, .number = 0}) == "the first meeting");
  CHECK(result_of(Reason::died) == hcommRemoteError);
  CHECK(result_of(Reason::stuck) == hcommTimeout);
  CHECK(result_of(Reason::none) == hcommSuccess);
}

}  // namespace hcomm
