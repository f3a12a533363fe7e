// Proves every case there is, on several threads, and tells how far it is.
#pragma once

#include <vector>

#include "plan/proof.h"

namespace hcomm {

struct ProofRun {
  std::vector<ProofCase> cases;
  std::vector<Judgement> judgements;  // of the same place
  double seconds = 0;
};

// Writes its progress to standard error from the second second on.
ProofRun prove_all(int max_ranks, int jobs);

}  // namespace hcomm
