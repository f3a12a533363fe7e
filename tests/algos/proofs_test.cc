// Goal: the whole of what may run is proved, and sizes that are not small behave like those that are.
#include "plan/proof.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

void check_all(int max_ranks, bool pairs) {
  for (const ProofCase& proof_case : proof_cases(max_ranks)) {
    const bool is_pair = proof_case.second != nullptr;
    if (is_pair != pairs) continue;
    if (!pairs && proof_case.first_problem.ranks <= kMaxRanksOfFullProof) continue;  // in the unit suite
    const Judgement judgement = prove(proof_case);
    INFO(describe(proof_case) << ": " << judgement.story);
    CHECK(judgement.proved());
  }
}

}  // namespace

TEST_CASE("every algorithm is proved at every size from 18 to 64 ranks") { check_all(64, false); }

TEST_CASE("every pair that shares slots is proved in both orders") { check_all(kMaxRanksOfPairs, true); }

TEST_CASE("few messages, many ranks: sizes around powers of two") {
  for (const int ranks : {127, 128, 129, 255, 257}) {
    for (const Collective collective : {Collective::allreduce, Collective::broadcast, Collective::barrier}) {
      const Algorithm* const algorithm = find_algorithm("recursive_doubling", collective);
      REQUIRE(algorithm != nullptr);
      const Judgement judgement =
          prove({.first = algorithm, .first_problem = {.collective = collective, .ranks = ranks, .slots = 1}});
      INFO(ranks << " " << judgement.story);
      CHECK(judgement.proved());
    }
  }
}

}  // namespace hcomm
