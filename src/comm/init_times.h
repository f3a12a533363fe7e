// Where the time went in which a communicator was made, on this rank; for perf and tests.
#pragma once

#include "base/clock.h"

namespace hcomm {

// The parts follow one another and make up the whole.
struct InitTimes {
  TimeNs whole_ns = 0;
  TimeNs prepare_ns = 0;   // settings, launcher, listening
  TimeNs gather_ns = 0;    // until all ranks had come to the meeting
  TimeNs table_ns = 0;     // until this rank knew them
  TimeNs segment_ns = 0;   // until it had the memory of its host, where that comes later than the table
  TimeNs transport_ns = 0;  // opening it
  TimeNs agree_ns = 0;     // the first exchange over it, or the first connections
};

}  // namespace hcomm
