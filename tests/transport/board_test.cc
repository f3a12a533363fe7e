#include "transport/board.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "base/clock.h"

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
  const Verdict first = {.reason = Reason::died,
                         .culprit = 2,
                         .pid = 77,
                         .host = host_name("node7"),
                         .writer = 1,
                         .witness = 1,
                         .witness_call = CallWords{.collective = Collective::allgather, .count = 5, .number = 9}};
  CHECK(health.board.give(first) == first);
  CHECK(health.board.give({.reason = Reason::aborted, .writer = 3}) == first);
  CHECK(health.board.has_verdict());
  CHECK(health.board.verdict() == first);
}

TEST_CASE("who died first is known; who left did not die, and how a rank went does not change any more") {
  Health health;
  CHECK(health.board.first_to_die() == kNoRank);
  health.board.set_left(0);
  CHECK(health.board.first_to_die() == kNoRank);
  health.board.set_missing(3);
  health.board.set_dead(1);
  CHECK(health.board.first_to_die() == 3);
  health.board.set_dead(3);
  health.board.set_dead(0);
  CHECK(health.board.is_missing(3));
  CHECK(health.board.has_left(0));
  CHECK_FALSE(health.board.is_missing(1));
  CHECK(health.board.first_to_die() == 3);
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
                                                           .writer = rank});
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
  health.cell.words[0] = static_cast<std::uint64_t>(Reason::died);
  const MonotonicClock clock;
  const TimeNs start = clock.now();
  CHECK(health.board.verdict()->reason == Reason::broken);
  CHECK(clock.now() - start < 10 * kSecond);
  std::uint32_t writing = 1;
  CHECK_FALSE(health.cell.state.compare_exchange_strong(writing, 2));  // what the late writer would do
  CHECK(health.board.verdict()->reason == Reason::broken);
  CHECK(health.board.give({.reason = Reason::aborted}).reason == Reason::broken);
}

TEST_CASE("a verdict that cannot be is broken") {
  Health health;
  health.board.give({.reason = Reason::died, .culprit = 2});
  health.cell.words[1] = 4;  // no such rank
  CHECK(health.board.verdict() == Verdict{.reason = Reason::broken});
  health.cell.words[1] = 3;
  CHECK(health.board.verdict()->culprit == 3);
}

CallWords numbered(std::uint64_t number, std::uint64_t before, std::uint64_t count = 1) {
  return {.collective = Collective::allreduce, .dtype = hcommFloat32, .count = count, .number = number, .before = before};
}

TEST_CASE("the last calls of a rank are remembered, and only those") {
  Health health;
  CHECK_FALSE(health.board.call(1).has_value());
  std::uint64_t before = 0;
  for (std::uint64_t number = 0; number < 10; ++number) {
    const CallWords call = numbered(number, before, number * 7);
    before = health.board.set_call(1, call);
    CHECK(before == call_digest(call));
    CHECK(health.board.entered(1) == number + 1);
    CHECK(health.board.digest(1) == before);
    CHECK(health.board.call(1) == call);
    for (std::uint64_t old = 0; old <= number; ++old) {
      const auto found = health.board.call(1, old);
      CHECK(found.has_value() == (number - old < kRecentCalls));
      if (found) CHECK(found->count == old * 7);
    }
  }
  CHECK_FALSE(health.board.call(1, 10).has_value());
  CHECK_FALSE(health.board.call(2).has_value());
  health.board.set_call(1, numbered(8, 0));  // older news
  CHECK(health.board.entered(1) == 10);
}

TEST_CASE("a call whose words do not have its digest is none: torn, or made up") {
  Health health;
  health.board.set_call(1, numbered(0, 0));
  health.board.set_call(1, numbered(1, health.board.digest(1)));
  health.lives[1].recent[1].count = 9;
  CHECK_FALSE(health.board.call(1, 1).has_value());
  CHECK_FALSE(health.board.call(1, 0).has_value());  // nobody vouches for it
  CallWords wild = numbered(2, 0);
  wild.root = 4;
  health.board.set_call(1, wild);
  CHECK_FALSE(health.board.call(1).has_value());
}

// Method: a writer that never pauses; what is read must be one of the calls that it made.
TEST_CASE("a reader never sees half a call") {
  Health health;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    std::uint64_t before = 0;
    for (std::uint64_t number = 0; number < 200'000; ++number) {
      before = health.board.set_call(1, numbered(number, before, number * 3));
    }
    done = true;
  });
  bool whole = true;
  while (!done) {
    const auto call = health.board.call(1);
    if (!call) continue;
    whole = whole && call->count == call->number * 3 && call->dtype == hcommFloat32;
  }
  writer.join();
  CHECK(whole);
  CHECK(health.board.call(1)->number == 199'999);
}

TEST_CASE("the first call at which two ranks part is found, also when one is ahead") {
  Health health;
  Board& board = health.board;
  std::uint64_t common = board.set_call(0, numbered(0, 0));
  board.set_call(1, numbered(0, 0));
  CHECK_FALSE(find_parting(board, 0, 1).has_value());
  CHECK_FALSE(find_parting(board, 0, 2).has_value());  // has made no call
  const std::uint64_t one = board.set_call(0, numbered(1, common, 100));
  CHECK_FALSE(find_parting(board, 0, 1).has_value());  // late is not another call
  std::uint64_t other = board.set_call(1, numbered(1, common, 101));
  other = board.set_call(1, numbered(2, other));
  const auto parting = find_parting(board, 0, 1);
  REQUIRE(parting.has_value());
  CHECK(parting->one.count == 100);
  CHECK(parting->other.count == 101);
  board.set_call(0, numbered(2, one));  // the same call, of another history
  CHECK(find_parting(board, 0, 1)->one.number == 1);
  for (std::uint64_t number = 3; number < 6; ++number) other = board.set_call(1, numbered(number, other));
  CHECK_FALSE(find_parting(board, 0, 1).has_value());  // too far ahead: nobody can say
}

TEST_CASE("a beat and what is known of a call only grow") {
  Health health;
  health.board.set_beat(1, 5);
  health.board.set_beat(1, 4);
  CHECK(health.board.beat(1) == 5);
  health.board.set_host(2, host_name("node7"));
  CHECK(text_of(health.board.host(2)) == "node7");
  CHECK(text_of(health.board.host(1)) == "");
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
