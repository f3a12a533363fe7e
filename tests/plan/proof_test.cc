// The list of what is proved leaves nothing out.
#include "plan/proof.h"

#include <map>
#include <set>

#include <catch2/catch.hpp>

namespace hcomm {

TEST_CASE("every algorithm is on the list at every number of ranks, and with two slots where it has slots") {
  std::map<std::pair<const Algorithm*, int>, std::set<int>> slots;
  for (const ProofCase& proof_case : proof_cases(40)) {
    if (proof_case.second != nullptr) continue;
    slots[{proof_case.first, proof_case.first_problem.ranks}].insert(proof_case.first_problem.slots);
  }
  for (const Algorithm* algorithm : algorithms()) {
    for (int ranks = 1; ranks <= 40; ++ranks) {
      const bool windowed = uses_window(algorithm->shape({.collective = algorithm->collective, .ranks = ranks}));
      INFO(algorithm->name << " " << name(algorithm->collective) << " " << ranks);
      CHECK(slots[std::pair(algorithm, ranks)] == (windowed ? std::set{1, 2} : std::set{1}));
    }
  }
}

TEST_CASE("broadcasts are proved from all roots of few ranks, and from the first, second and last of many") {
  std::map<int, std::set<int>> roots;
  const Algorithm* const flat = find_algorithm("flat", Collective::broadcast);
  for (const ProofCase& proof_case : proof_cases(12)) {
    if (proof_case.first != flat || proof_case.second != nullptr) continue;
    roots[proof_case.first_problem.ranks].insert(proof_case.first_problem.root);
  }
  CHECK(roots[5] == std::set{0, 1, 2, 3, 4});
  CHECK(roots[8].size() == 8);
  CHECK(roots[12] == std::set{0, 1, 11});
}

TEST_CASE("all pairs of which one uses the window are on the list") {
  std::set<std::set<const Algorithm*>> pairs;
  for (const ProofCase& proof_case : proof_cases(3)) {
    if (proof_case.second == nullptr || proof_case.first_problem.ranks != 3) continue;
    pairs.insert({proof_case.first, proof_case.second});
  }
  const auto windowed = [](const Algorithm* each) {
    return uses_window(each->shape({.collective = each->collective, .ranks = 3}));
  };
  for (const Algorithm* first : algorithms()) {
    for (const Algorithm* second : algorithms()) {
      if (first != second && (windowed(first) || windowed(second))) CHECK(pairs.contains({first, second}));
    }
  }
}

TEST_CASE("a case is proved, and described") {
  const Algorithm* const ring = find_algorithm("ring", Collective::broadcast);
  const Problem problem{.collective = Collective::broadcast, .ranks = 3, .root = 2, .slots = 1};
  CHECK(prove({.first = ring, .first_problem = problem}).proved());
  CHECK(describe({.first = ring, .first_problem = problem}) == "ring broadcast from 2, 3 ranks, 1 slot");
  const Algorithm* const flat = find_algorithm("flat", Collective::barrier);
  const Problem barrier{.collective = Collective::barrier, .ranks = 3, .slots = 1};
  const ProofCase pair{.first = ring, .first_problem = problem, .second = flat, .second_problem = barrier};
  CHECK(prove(pair).proved());
  CHECK(describe(pair) == "ring broadcast from 2 and flat barrier, 3 ranks, 1 slot");
}

}  // namespace hcomm
