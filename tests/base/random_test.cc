// Goal: the same seed gives the same numbers everywhere, and bounded draws are fair.
#include "base/random.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>

namespace hcomm {
namespace {

TEST_CASE("a seed names its sequence") {
  Random one(42);
  Random same(42);
  Random other(43);
  int differences = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    const std::uint64_t number = one.next();
    REQUIRE(number == same.next());
    differences += number != other.next() ? 1 : 0;
  }
  CHECK(differences == 1000);
}

TEST_CASE("the sequence is that of the published generator") {
  Random random(1234567);  // SplitMix64's
  CHECK(random.next() == 6457827717110365317u);
  CHECK(random.next() == 3203168211198807973u);
  CHECK(random.next() == 9817491932198370423u);
}

TEST_CASE("numbers do not repeat soon, from seed 0 either") {
  Random random(0);
  std::set<std::uint64_t> seen;
  for (int turn = 0; turn < 10000; ++turn) seen.insert(random.next());
  CHECK(seen.size() == 10000);
}

TEST_CASE("bounded draws are in range and each value is about as likely") {
  Random random(7);
  constexpr std::uint64_t kBound = 6;
  constexpr int kDraws = 60000;
  std::array<int, kBound> counts{};
  for (int turn = 0; turn < kDraws; ++turn) {
    const std::uint64_t draw = random.below(kBound);
    REQUIRE(draw < kBound);
    ++counts[draw];
  }
  for (const int count : counts) CHECK(count == Approx(kDraws / kBound).margin(400));
  CHECK(random.below(1) == 0);
  // A third is fair; a plain remainder would give a half.
  constexpr std::uint64_t kHuge = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  int low = 0;
  for (int turn = 0; turn < 3000; ++turn) low += random.below(kHuge) < (std::uint64_t{1} << 62) ? 1 : 0;
  CHECK(low == Approx(1000).margin(150));
}

TEST_CASE("fractions are in [0, 1) with the right mean") {
  Random random(9);
  double sum = 0;
  for (int turn = 0; turn < 10000; ++turn) {
    const double fraction = random.unit();
    REQUIRE((fraction >= 0 && fraction < 1));
    sum += fraction;
  }
  CHECK(sum / 10000 == Approx(0.5).margin(0.02));
}

}  // namespace
}  // namespace hcomm
