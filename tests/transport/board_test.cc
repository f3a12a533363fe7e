#include "transport/board.h"

#include <array>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace hcomm {
namespace {

struct Health {
  std::array<Life, 4> lives;
  VerdictCell cell;
  Board board{4, lives.data(), &cell};
};

TEST_CASE("there is no verdict until one is given, and then that one stands") {
  Health health;
  CHECK_FALSE(health.board.has_verdict());
  CHECK_FALSE(health.board.verdict().has_value());
  const Verdict first = {
      .reason = Reason::died, .culprit = 2, .pid = 77, .writer = 1, .collective = Collective::allgather, .sequence = 9};
  CHECK(health.board.give(first) == first);
  CHECK(health.board.give({.reason = Reason::aborted, .writer = 3}) == first);
  CHECK(health.board.has_verdict());
  CHECK(health.board.verdict() == first);
}

TEST_CASE("of many verdicts at once one wins, and everybody reads it") {
  for (int round = 0; round < 50; ++round) {
    Health health;
    std::array<Verdict, 4> read;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 4; ++rank) {
      threads.emplace_back([&, rank] {
        Board board = health.board;
        read[static_cast<std::size_t>(rank)] = board.give({.reason = Reason::timed_out,
                                                           .culprit = 3 - rank,
                                                           .pid = 100 + rank,
                                                           .writer = rank,
                                                           .sequence = static_cast<std::uint64_t>(rank)});
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Verdict& each : read) {
      REQUIRE(each == read[0]);
      REQUIRE(each.culprit == 3 - each.writer);
      REQUIRE(each.pid == 100 + each.writer);
    }
  }
}

TEST_CASE("a verdict whose writer died in the middle is broken for everybody, and stays so") {
  Health health;
  health.cell.state = 1;
  health.cell.reason = static_cast<std::uint32_t>(Reason::died);
  const MonotonicClock clock;
  const TimeNs start = clock.now();
  CHECK(health.board.verdict()->reason == Reason::broken);
  CHECK(clock.now() - start < 10 * kSecond);
  std::uint32_t writing = 1;
  CHECK_FALSE(health.cell.state.compare_exchange_strong(writing, 2));  // what the late writer would do
  CHECK(health.board.verdict()->reason == Reason::broken);
  CHECK(health.board.give({.reason = Reason::aborted}).reason == Reason::broken);
}

TEST_CASE("whatever a peer writes into the cell, the verdict's fields are in range") {
  Random random(11);
  int broken = 0;
  for (int round = 0; round < 2000; ++round) {
    Health health;
    health.cell.reason = static_cast<std::uint32_t>(random.below(9));
    health.cell.culprit = static_cast<std::int32_t>(random.below(12)) - 4;
    health.cell.pid = static_cast<std::int32_t>(random.next());
    health.cell.writer = static_cast<std::int32_t>(random.below(12)) - 4;
    health.cell.collective = static_cast<std::uint32_t>(random.below(9));
    health.cell.state = static_cast<std::uint32_t>(2 + random.below(3));
    const auto verdict = health.board.verdict();
    REQUIRE(verdict.has_value());
    REQUIRE(verdict->reason != Reason::none);
    REQUIRE(verdict->reason <= Reason::broken);
    REQUIRE((verdict->culprit >= -1 && verdict->culprit < 4));
    REQUIRE((verdict->writer >= -1 && verdict->writer < 4));
    REQUIRE(verdict->pid >= 0);
    REQUIRE(verdict->collective <= Collective::barrier);
    broken += verdict->reason == Reason::broken ? 1 : 0;
  }
  CHECK(broken > 0);
  CHECK(broken < 2000);
}

TEST_CASE("a rank ends once, in the way that was seen first") {
  Health health;
  CHECK_FALSE(health.board.is_dead(1));
  health.board.set_left(1);
  health.board.set_dead(1);
  CHECK(health.board.is_dead(1));
  CHECK(health.board.has_left(1));
  health.board.set_dead(2);
  health.board.set_left(2);
  CHECK(health.board.is_dead(2));
  CHECK_FALSE(health.board.has_left(2));
  CHECK_FALSE(health.board.is_dead(0));
}

}  // namespace
}  // namespace hcomm
