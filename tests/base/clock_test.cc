// Goal: time only goes forward, sums of times never wrap, and waiters climb their ladder in order.
#include "base/clock.h"

#include <catch2/catch.hpp>

#include "base/bytes.h"
#include "base/idle.h"

namespace hcomm {
namespace {

TEST_CASE("the real clock never goes back") {
  const MonotonicClock clock;
  TimeNs last = clock.now();
  for (int turn = 0; turn < 1000; ++turn) {
    const TimeNs now = clock.now();
    REQUIRE(now >= last);
    last = now;
  }
}

TEST_CASE("the manual clock moves when told to") {
  ManualClock clock;
  CHECK(clock.now() == 0);
  clock.advance(3 * kSecond);
  CHECK(clock.now() == 3 * kSecond);
  CHECK(clock.now() == 3 * kSecond);
}

TEST_CASE("a deadline past the end of time is never") {
  CHECK(add_saturated(1, 2) == 3);
  CHECK(add_saturated(kNever, 1) == kNever);
  CHECK(add_saturated(kNever - 1, 1) == kNever);
  CHECK(add_saturated(1, kNever) == kNever);
}

TEST_CASE("a waiter spins, then yields, then sleeps, and starts anew after work") {
  IdleLadder ladder({.spins = 3, .yields = 2});
  for (int round = 0; round < 2; ++round) {
    for (int turn = 0; turn < 3; ++turn) CHECK(ladder.next() == IdleAct::spin);
    for (int turn = 0; turn < 2; ++turn) CHECK(ladder.next() == IdleAct::yield);
    for (int turn = 0; turn < 100; ++turn) CHECK(ladder.next() == IdleAct::sleep);
    ladder.reset();
  }
}

TEST_CASE("only ranks that fit the cores spin") {
  CHECK(IdlePolicy::for_load(2, 2).spins > 0);
  CHECK(IdlePolicy::for_load(3, 2).spins == 0);
  CHECK(IdlePolicy::for_load(3, 2).yields > 0);
  CHECK(IdlePolicy::for_load(8, 0).yields > 0);
  IdleLadder crowded(IdlePolicy::for_load(8, 2));
  CHECK(crowded.next() == IdleAct::yield);
  spin_pause();
}

TEST_CASE("sizes are rounded up to whole units") {
  CHECK(round_up(0, 64) == 0);
  CHECK(round_up(1, 64) == 64);
  CHECK(round_up(64, 64) == 64);
  CHECK(round_up(65, 64) == 128);
}

}  // namespace
}  // namespace hcomm
