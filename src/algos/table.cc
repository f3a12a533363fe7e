#include <algorithm>

#include "algos/algorithm.h"
#include "algos/entries.h"

namespace hcomm {
namespace {

// Per collective, from the smallest message on.
constexpr std::array kFamilies = {&kFlat, &kDirect, &kRecursiveDoubling, &kRing};

constexpr auto kTable = [] {
  std::array<const Algorithm*, kFamilies.size() * kCollectives.size()> table{};
  std::size_t next = 0;
  for (std::size_t collective = 0; collective < kCollectives.size(); ++collective) {
    for (const Family* family : kFamilies) table[next++] = &(*family)[collective];
  }
  return table;
}();

}  // namespace

std::span<const Algorithm* const> algorithms() { return kTable; }

const Algorithm* find_algorithm(std::string_view name, Collective collective) {
  const auto found = std::ranges::find_if(kTable, [&](const Algorithm* algorithm) {
    return algorithm->collective == collective && algorithm->name == name;
  });
  return found == kTable.end() ? nullptr : *found;
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
