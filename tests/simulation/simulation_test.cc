// Goal: the distributed logic is right in any order of events.
// Method: many seeds, each a world of its own; the seeds of earlier findings are kept in kept_seeds.txt. `scripts/simulate`
//         runs more of them, and with --first SEED --seeds 1 --tell one again.
#include "simulation.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

namespace hcomm::simulation {
namespace {

void check(Scenario scenario, bool meets = true) {
  scenario.meets = meets;
  const Report report = run(scenario);
  INFO(describe(scenario));
  CHECK(report.finding == "");
}

}  // namespace

TEST_CASE("a thousand worlds, and no finding") {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) check(draw(seed));
}

TEST_CASE("the seeds of earlier findings") {
  std::ifstream file(HCOMM_KEPT_SEEDS);
  REQUIRE(file.good());
  int seeds = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::uint64_t seed = 0;
    std::string of;
    std::size_t collectives = 0;
    REQUIRE(words >> seed >> of >> collectives);
    REQUIRE((of == "of" && collectives <= kCollectives.size()));
    for (const bool meets : {false, true}) check(draw(seed, collectives), meets);
    ++seeds;
  }
  CHECK(seeds > 0);
}

TEST_CASE("a seed tells the same story again") {
  for (const std::uint64_t seed : {3, 17, 400}) {
    const Report once = run(draw(seed));
    const Report again = run(draw(seed));
    CHECK(once.virtual_ns == again.virtual_ns);
    CHECK(once.calls == again.calls);
    CHECK(once.failed_ranks == again.failed_ranks);
  }
}

TEST_CASE("mishaps of every kind happen, and are felt") {
  int failed[6] = {};
  int drawn[6] = {};
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Scenario scenario = draw(seed);
    ++drawn[static_cast<int>(scenario.mishap)];
    failed[static_cast<int>(scenario.mishap)] += run(scenario).failed_ranks > 0 ? 1 : 0;
  }
  for (const int each : drawn) CHECK(each > 0);
  constexpr Mishap kFelt[] = {Mishap::mismatch, Mishap::crash, Mishap::cut, Mishap::absent};
  for (const Mishap felt : kFelt) CHECK(failed[static_cast<int>(felt)] > 0);
  for (const Mishap harmless : {Mishap::none, Mishap::pause}) CHECK(failed[static_cast<int>(harmless)] == 0);
}

}  // namespace hcomm::simulation
