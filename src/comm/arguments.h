// A collective call as the user made it, and what can be wrong with it by itself.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "hcomm/types.h"
#include "schedule/problem.h"

namespace hcomm {

struct CollectiveCall {
  Collective collective = Collective::barrier;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;  // as in hcomm.h: of the message, or of one rank's part
  hcommDataType_t dtype = hcommInt8;
  hcommRedOp_t op = hcommSum;
  int root = 0;
};

// InvalidArgument, naming the argument, its value and what is legal. Reads no memory that the call points to.
Status check_arguments(const CollectiveCall& call, int rank, int ranks);

}  // namespace hcomm
