// Medians of repeated measurements.
#pragma once

#include <algorithm>
#include <vector>

#include "base/clock.h"

namespace hcomm::bench {

// Nanoseconds per turn of body(), over so many turns.
template <class Body>
double time_turns(int turns, Body&& body) {
  const MonotonicClock clock;
  const TimeNs start = clock.now();
  for (int turn = 0; turn < turns; ++turn) body();
  return static_cast<double>(clock.now() - start) / turns;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace hcomm::bench
