#include "verify/verify.h"

#include <catch2/catch.hpp>

#include "algos/algorithm.h"
#include "schedule/builder.h"

namespace hcomm {

TEST_CASE("no calls, nothing wrong") { CHECK(verify_calls({}).proved()); }

TEST_CASE("every fault has a name of its own") {
  std::vector<std::string_view> names;
  for (Fault fault : {Fault::none, Fault::malformed, Fault::bounds, Fault::matching, Fault::deadlock, Fault::race,
                      Fault::contribution, Fault::step}) {
    for (std::string_view other : names) CHECK(other != name(fault));
    names.push_back(name(fault));
  }
}

TEST_CASE("schedules of different rank counts make no pair") {
  const auto barrier = [](int ranks) {
    const Problem problem{.collective = Collective::barrier, .ranks = ranks};
    Schedule schedule{.algorithm = "none", .problem = problem, .shape = {}, .programs = {}};
    for (int rank = 0; rank < ranks; ++rank) schedule.programs.push_back(ProgramBuilder(problem, {}, rank).finish());
    return schedule;
  };
  CHECK(verify(barrier(1)).proved());
  CHECK(verify(barrier(2)).fault == Fault::contribution);
  CHECK(verify_pair(barrier(1), barrier(2)).fault == Fault::malformed);
}

TEST_CASE("all-to-all patterns of 64 ranks are judged in linear work") {
  std::size_t judged = 0;
  for (const Algorithm* algorithm : algorithms()) {
    const Problem problem{.collective = algorithm->collective, .ranks = 64, .slots = 2};
    if (algorithm->name != "direct" || !algorithm->supports(problem)) continue;
    const Judgement judgement = verify(write_schedule(*algorithm, problem));
    INFO(judgement.story);
    CHECK(judgement.proved());
    ++judged;
  }
  CHECK(judged > 0);
}

}  // namespace hcomm
