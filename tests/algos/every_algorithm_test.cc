// Goal: no algorithm enters the library unproved.
// Method: exhaustive over small sizes; the verifier judges data flow, matching, order and reuse.
#include "algos/algorithm.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "plan/proof.h"
#include "schedule/text.h"
#include "verify/verify.h"

namespace hcomm {
namespace {

void check_alone(int first_ranks, int last_ranks, int slots) {
  for (const Algorithm* algorithm : algorithms()) {
    for (int ranks = first_ranks; ranks <= last_ranks; ++ranks) {
      const int roots = has_root(algorithm->collective) ? ranks : 1;
      for (int root = 0; root < roots; ++root) {
        const Problem problem{.collective = algorithm->collective, .ranks = ranks, .root = root, .slots = slots};
        REQUIRE(algorithm->supports(problem));
        const Judgement judgement = verify(write_schedule(*algorithm, problem));
        INFO(algorithm->name << " " << name(algorithm->collective) << " ranks=" << ranks << " root=" << root
                             << " slots=" << slots);
        INFO(judgement.story);
        CHECK(judgement.proved());
      }
    }
  }
}

}  // namespace

TEST_CASE("every algorithm is proved from every root with one slot, two and three") {
  for (const int slots : {1, 2, 3}) check_alone(1, 6, slots);
}

TEST_CASE("every algorithm is proved at every size up to 17 ranks") {
  int proved = 0;
  for (const ProofCase& proof_case : proof_cases(kMaxRanksOfFullProof)) {
    if (proof_case.second != nullptr || proof_case.first_problem.ranks <= 6) continue;
    const Judgement judgement = prove(proof_case);
    INFO(describe(proof_case) << ": " << judgement.story);
    CHECK(judgement.proved());
    ++proved;
  }
  CHECK(proved > 300);
}

// The canaries: what the prose of the algorithms calls necessary is so.
TEST_CASE("a root that returns while it is read is refused") {
  const Algorithm* const direct = find_algorithm("direct", Collective::broadcast);
  REQUIRE(direct != nullptr);
  Schedule schedule = write_schedule(*direct, {.collective = Collective::broadcast, .ranks = 3});
  REQUIRE(verify(schedule).proved());
  Program& root = schedule.programs.front();
  REQUIRE(root.epilogue.count > 0);
  root.ops.resize(root.epilogue.first);
  root.epilogue = {};
  CHECK(verify(schedule).fault == Fault::race);
}

TEST_CASE("with a single slot, a rank that does not say when it has finished is refused") {
  const Algorithm* const flat = find_algorithm("flat", Collective::allreduce);
  REQUIRE(flat != nullptr);
  Schedule schedule = write_schedule(*flat, {.ranks = 2, .slots = 2});
  REQUIRE(verify(schedule).proved());
  schedule.problem.slots = 1;
  for (Program& program : schedule.programs) {
    for (Op& op : program.ops) op.back = std::min<std::uint8_t>(op.back, 1);
  }
  CHECK(verify(schedule).fault == Fault::deadlock);
}

}  // namespace hcomm
