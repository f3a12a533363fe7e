#include "transport/faults.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "team.h"
#include "transport/loopback.h"

namespace hcomm::test {
namespace {

// What each poll of two moody ranks returns while twenty messages pass.
std::vector<int> moods(const FaultPlan& plan, std::uint64_t seed) {
  auto ranks = open_loopback({.ranks = 2}).value();
  for (auto& rank : ranks) rank = make_faulty(std::move(rank), plan, seed);
  const std::vector<std::byte> data = pattern(50, 1);
  std::vector<std::vector<std::byte>> got(20, std::vector<std::byte>(50));
  std::vector<Completion> done(40);
  std::vector<int> trace;
  for (std::size_t i = 0; i < 20; ++i) {
    send(*ranks[0], 1, Lane::collective, data, done[2 * i]);
    recv(*ranks[1], 0, Lane::collective, got[i], done[2 * i + 1]);
    for (auto& rank : ranks) trace.push_back(rank->poll());
  }
  for (int turn = 0; turn < 400; ++turn) {
    for (auto& rank : ranks) trace.push_back(rank->poll());
  }
  REQUIRE(std::ranges::all_of(done, [](const Completion& each) { return each.finished && each.status.ok(); }));
  REQUIRE(std::ranges::all_of(got, [&](const auto& bytes) { return bytes == data; }));
  return trace;
}

TEST_CASE("moods come from the seed alone") {
  for (const FaultPlan& plan : {FaultPlan::delays(), FaultPlan::busy()}) {
    INFO(plan.name);
    CHECK(moods(plan, 1) == moods(plan, 1));
    CHECK(moods(plan, 1) != moods(plan, 2));
    CHECK(moods(plan, 1) != moods(FaultPlan::none(), 1));
  }
  CHECK(moods(FaultPlan::none(), 1) == moods(FaultPlan::none(), 2));
}

TEST_CASE("what is held back for a while is not slept upon") {
  auto ranks = open_loopback({.ranks = 2}).value();
  const FaultPlan slow = {.name = "slow", .hold = 100, .most_turns = 30};
  ranks[0] = make_faulty(std::move(ranks[0]), slow, 1);
  const std::vector<std::byte> data(8);
  Completion done;
  send(*ranks[0], 1, Lane::collective, data, done);
  const MonotonicClock clock;
  const TimeNs start = clock.now();
  for (int turn = 0; turn < 1000; ++turn) {
    ranks[0]->arm();
    ranks[0]->sleep(kSecond);
  }
  CHECK(clock.now() - start < 20 * kSecond);  // a real sleep each would take 100 s
}

}  // namespace
}  // namespace hcomm::test
