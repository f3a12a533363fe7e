#include "plan/template_cache.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace hcomm {
namespace {

struct Key {
  const Algorithm* algorithm;
  Problem problem;
  int rank;
};

Key key_of(const std::unique_ptr<const Template>& entry) {
  return {entry->algorithm, entry->problem, entry->program.rank};
}

// An algorithm serves one collective, so it stands for that, too.
bool is_before(const Key& left, const Key& right) {
  if (left.algorithm != right.algorithm) return std::less<>()(left.algorithm, right.algorithm);
  const auto numbers = [](const Key& key) {
    return std::tuple(key.problem.root, key.problem.ranks, key.problem.slots, key.rank);
  };
  return numbers(left) < numbers(right);
}

}  // namespace

const Template& TemplateCache::find(const Algorithm& algorithm, const Problem& problem, int rank) {
  const Key key{&algorithm, problem, rank};
  const auto place = std::ranges::lower_bound(templates_, key, is_before, key_of);
  if (place != templates_.end() && !is_before(key, key_of(*place))) return **place;

  auto fresh = std::make_unique<Template>(Template{.algorithm = &algorithm,
                                                   .problem = problem,
                                                   .shape = algorithm.shape(problem),
                                                   .program = write_program(algorithm, problem, rank)});
  fresh->hash = hash(fresh->problem, fresh->shape, fresh->program);
  return **templates_.insert(place, std::move(fresh));
}

}  // namespace hcomm
