// What it costs to store lines that another core has just read, by the kind of store. On some machines the kinds differ by
// a factor of six, on others not at all, and nothing but a measurement tells.
#pragma once

#include "base/clock.h"

namespace hcomm {

struct StoreCosts {  // nanoseconds per cache line
  double regular_ns = 0;
  double non_temporal_ns = 0;
  double rep_movsb_ns = 0;
};

struct StoreProbe {
  bool measured = false;  // false: too few cores, no time, or no such stores on this machine; then all costs are 0
  StoreCosts costs;
};

// Measures on two threads of its own, each on a core of its own out of the caller's affinity mask, within the budget (and the
// time to make two threads). They block all signals and have ended when this returns. The caller's thread only waits.
StoreProbe probe_stores(int usable_cores, TimeNs budget = 2 * kMillisecond);

}  // namespace hcomm
