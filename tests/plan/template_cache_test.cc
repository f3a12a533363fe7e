#include "plan/template_cache.h"

#include <catch2/catch.hpp>

namespace hcomm {

TEST_CASE("a template is what the algorithm writes, and has the hash of it") {
  TemplateCache cache;
  for (const Algorithm* algorithm : algorithms()) {
    const Problem problem{.collective = algorithm->collective, .ranks = 5};
    for (int rank = 0; rank < 5; ++rank) {
      const Template& found = cache.find(*algorithm, problem, rank);
      CHECK(found.algorithm == algorithm);
      CHECK(found.problem == problem);
      CHECK(found.shape == algorithm->shape(problem));
      CHECK(found.program == write_program(*algorithm, problem, rank));
      CHECK(found.hash == hash(problem, found.shape, found.program));
    }
  }
}

TEST_CASE("each problem is written once and stays where it is") {
  TemplateCache cache;
  std::vector<std::pair<Problem, const Template*>> seen;
  const Algorithm& broadcast = *find_algorithm("ring", Collective::broadcast);
  for (int ranks = 1; ranks <= 6; ++ranks) {
    for (int root = 0; root < ranks; ++root) {
      for (const int slots : {1, 2}) {
        const Problem problem{.collective = Collective::broadcast, .ranks = ranks, .root = root, .slots = slots};
        seen.emplace_back(problem, &cache.find(broadcast, problem, 0));
      }
    }
  }
  CHECK(cache.size() == seen.size());
  for (const auto& [problem, first] : seen) {
    CHECK(&cache.find(broadcast, problem, 0) == first);
    CHECK(first->problem == problem);
  }
  CHECK(cache.size() == seen.size());
}

}  // namespace hcomm
