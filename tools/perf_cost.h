// What a job pays before its first call and beside its calls: the time to make a communicator, and what a further one of the same
// ranks holds while nobody uses it. All ranks call it together.
#pragma once

#include <hcomm/hcomm.h>

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "comm/init_times.h"
#include "transport/transport.h"

namespace hcomm {

// What this process holds.
struct Holdings {
  std::int64_t heap_bytes = 0;        // that malloc has given out
  std::int64_t shared_bytes = 0;      // touched pages of memory files, each divided among the processes that have touched it
  std::int64_t page_table_bytes = 0;  // the kernel's, of this process
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};
Holdings holdings();

// Of one of kFurther communicators that were made after the first one, on the rank where it is the most.
struct IdleCost {
  std::int64_t heap_bytes = 0;  // a mean, as are the other bytes
  std::int64_t shared_bytes = 0;
  std::int64_t page_table_bytes = 0;
  std::int64_t descriptors = 0;  // of all kFurther together
  std::int64_t threads = 0;

  std::int64_t bytes() const { return heap_bytes + shared_bytes; }
};

struct PairTraffic {
  int from = 0;
  int to = 0;
  Traffic traffic;  // messages of both directions, as rank `from` counts them
};

struct PerfCosts {
  int slowest = 0;  // the rank whose communicator took longest to make
  InitTimes init;   // its times
  IdleCost idle;
};

// The first communicator's times, and the cost of further ones, which are made and destroyed. One rank: all is zero but the heap.
Result<PerfCosts> measure_costs(hcommComm_t comm);

// Of all pairs that have exchanged messages, up to now.
Result<std::vector<PairTraffic>> gather_traffic(hcommComm_t comm);

}  // namespace hcomm
