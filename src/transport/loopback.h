// Ranks as threads of one process, or all driven by one thread. Queues under a lock: the simplest transport that is
// correct, and the one that others are compared with. A send ends when its receiver has taken it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/status.h"
#include "transport/transport.h"

namespace hcomm {

struct LoopbackOptions {
  int ranks = 1;                 // in [1, kMaxRanks]
  int slots = 2;                 // in [1, kMaxSlots]
  std::size_t slot_bytes = 4096;  // of each slot; a multiple of 64, may be 0
};

// One transport per rank, in rank order. Each may go to a thread of its own, and may be destroyed before the others;
// its rank then counts as left.
Result<std::vector<std::unique_ptr<Transport>>> open_loopback(const LoopbackOptions& options);

}  // namespace hcomm
