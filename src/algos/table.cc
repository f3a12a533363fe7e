#include <algorithm>

#include "algos/algorithm.h"
#include "algos/entries.h"

namespace hcomm {
namespace {

// Per collective, from the smallest message on.
constexpr std::array<std::span<const Algorithm>, 7> kFamilies = {kFlat,  kDirect, kRecursiveDoubling, kHalvingDoubling,
                                                                   kTree, kPairwise, kRing};

std::vector<const Algorithm*> table_of_all() {
  std::vector<const Algorithm*> table;
  for (const Collective collective : kCollectives) {
    for (const std::span<const Algorithm> family : kFamilies) {
      for (const Algorithm& algorithm : family) {
        if (algorithm.collective == collective) table.push_back(&algorithm);
      }
    }
  }
  return table;
}

}  // namespace

std::span<const Algorithm* const> algorithms() {
  static const std::vector<const Algorithm*> table = table_of_all();
  return table;
}

const Algorithm* find_algorithm(std::string_view name, Collective collective) {
  const auto found = std::ranges::find_if(algorithms(), [&](const Algorithm* algorithm) {
    return algorithm->collective == collective && algorithm->name == name;
  });
  return found == algorithms().end() ? nullptr : *found;
}

Program write_program(const Algorithm& algorithm, const Problem& problem, int rank) {
  HCOMM_ASSERT(algorithm.collective == problem.collective);
  HCOMM_ASSERT(0 < problem.ranks && problem.ranks <= kMaxRanks);
  HCOMM_ASSERT(0 < problem.slots && problem.slots <= kMaxSlots);
  HCOMM_ASSERT(0 <= problem.root && problem.root < (has_root(problem.collective) ? problem.ranks : 1));
  ProgramBuilder builder(problem, algorithm.shape(problem), rank);
  algorithm.write(builder);
  return std::move(builder).finish();
}

Schedule write_schedule(const Algorithm& algorithm, const Problem& problem) {
  Schedule schedule{.algorithm = std::string(algorithm.name), .problem = problem, .shape = algorithm.shape(problem)};
  schedule.programs.reserve(static_cast<std::size_t>(problem.ranks));
  for (int rank = 0; rank < problem.ranks; ++rank) {
    schedule.programs.push_back(write_program(algorithm, problem, rank));
  }
  return schedule;
}

}  // namespace hcomm
