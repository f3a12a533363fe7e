#include "plan/proof.h"

#include <algorithm>

namespace hcomm {
namespace {

constexpr int kMaxRanksOfAllRoots = 8;

bool uses_window(const ProofCase& alone) { return uses_window(alone.first->shape(alone.first_problem)); }

std::vector<int> roots_of(Collective collective, int ranks) {
  std::vector<int> roots = {0};
  if (!has_root(collective)) return roots;
  const bool all = ranks <= kMaxRanksOfAllRoots;
  for (int root = 1; root < ranks; ++root) {
    if (all || root == 1 || root == ranks - 1) roots.push_back(root);
  }
  return roots;
}

void add_alone(std::vector<ProofCase>& cases, int ranks, int slots) {
  for (const Algorithm* algorithm : algorithms()) {
    for (const int root : roots_of(algorithm->collective, ranks)) {
      const Problem problem{.collective = algorithm->collective, .ranks = ranks, .root = root, .slots = slots};
      if (!algorithm->supports(problem)) continue;
      if (slots > 1 && !uses_window(algorithm->shape(problem))) continue;
      cases.push_back({.first = algorithm, .first_problem = problem});
    }
  }
}

// Of the roots the first and the last are enough: a root's neighbours are alike.
void add_pairs(std::vector<ProofCase>& cases, int ranks, int slots) {
  std::vector<ProofCase> alone;
  for (const Algorithm* algorithm : algorithms()) {
    for (const int root : {0, ranks - 1}) {
      const Problem problem{.collective = algorithm->collective, .ranks = ranks, .root = root, .slots = slots};
      if (root > 0 && !has_root(algorithm->collective)) continue;
      if (algorithm->supports(problem)) alone.push_back({.first = algorithm, .first_problem = problem});
    }
  }
  for (std::size_t i = 0; i < alone.size(); ++i) {
    for (std::size_t k = i + 1; k < alone.size(); ++k) {
      if (!uses_window(alone[i]) && !uses_window(alone[k])) continue;
      cases.push_back({.first = alone[i].first,
                       .first_problem = alone[i].first_problem,
                       .second = alone[k].first,
                       .second_problem = alone[k].first_problem});
    }
  }
}

// Enough turns for every slot to be used again, under each way of meeting the schedule.
Judgement prove_in_one_sequence(const Schedule& schedule) {
  constexpr std::uint64_t kNone = 0;
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  constexpr std::uint64_t kOdd = 0xaaaaaaaaaaaaaaaau;
  constexpr std::uint64_t kPairs = 0xccccccccccccccccu;
  const int many = schedule.problem.collective == Collective::barrier ? 1 : schedule.problem.slots + 1;
  const Call calls[] = {
      {.schedule = &schedule, .chunks = 1, .placement = {.in_place = kNone, .windowed = kNone}},
      {.schedule = &schedule, .chunks = 1, .placement = {.in_place = kAll, .windowed = kAll}},
      {.schedule = &schedule, .chunks = many, .placement = {.in_place = kOdd, .windowed = kPairs}},
      {.schedule = &schedule, .chunks = many, .placement = {.in_place = kPairs, .windowed = ~kOdd}},
  };
  return verify_calls(calls);
}

std::string describe(const Algorithm& algorithm, const Problem& problem) {
  std::string text(algorithm.name);
  text.append(" ").append(name(problem.collective));
  if (has_root(problem.collective)) text.append(" from ").append(std::to_string(problem.root));
  return text;
}

}  // namespace

std::vector<ProofCase> proof_cases(int max_ranks) {
  std::vector<ProofCase> cases;
  for (int ranks = 1; ranks <= max_ranks; ++ranks) {
    for (const int slots : {1, 2}) {
      add_alone(cases, ranks, slots);
      if (1 < ranks && ranks <= kMaxRanksOfPairs) add_pairs(cases, ranks, slots);
    }
  }
  return cases;
}

Judgement prove(const ProofCase& proof_case) {
  const Schedule first = write_schedule(*proof_case.first, proof_case.first_problem);
  if (proof_case.second != nullptr) return verify_pair(first, write_schedule(*proof_case.second, proof_case.second_problem));
  if (proof_case.first_problem.ranks <= kMaxRanksOfFullProof) return verify(first);
  return prove_in_one_sequence(first);
}

std::string describe(const ProofCase& proof_case) {
  std::string text = describe(*proof_case.first, proof_case.first_problem);
  if (proof_case.second != nullptr) text.append(" and ").append(describe(*proof_case.second, proof_case.second_problem));
  const Problem& problem = proof_case.first_problem;
  text.append(", ").append(std::to_string(problem.ranks)).append(problem.ranks == 1 ? " rank, " : " ranks, ");
  text.append(std::to_string(problem.slots)).append(problem.slots == 1 ? " slot" : " slots");
  return text;
}

}  // namespace hcomm
