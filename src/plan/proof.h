// Everything this library may run, as a list of cases to prove. `hcomm verify --all` and the proof tests go through it.
//
//   alone   every algorithm at every number of ranks, with one slot and with two (one is enough where no window is used: the
//           program is the same), from every root up to 8 ranks, and from the first, second and last root above
//   pairs   every two of them of which one or both use the window, in both orders, at 2 to 4 ranks, with one slot and two
//
// Up to 17 ranks a schedule is proved by verify() in full. Above, one sequence of calls stands for all: with one chunk and
// with slots + 1, in place and not, staged and read where it lies, all ranks alike and mixed.
#pragma once

#include <string>
#include <vector>

#include "algos/algorithm.h"
#include "verify/verify.h"

namespace hcomm {

inline constexpr int kMaxRanksOfFullProof = 17;
inline constexpr int kMaxRanksOfPairs = 4;

struct ProofCase {
  const Algorithm* first = nullptr;
  Problem first_problem;
  const Algorithm* second = nullptr;  // null: the first alone
  Problem second_problem;
};

// In the order of growing ranks.
std::vector<ProofCase> proof_cases(int max_ranks);

Judgement prove(const ProofCase& proof_case);

std::string describe(const ProofCase& proof_case);  // "ring allreduce, 4 ranks, 2 slots"

}  // namespace hcomm
