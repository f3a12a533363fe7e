// Who touched memory, and when: the vocabulary of the race check.
//
// Each rank counts its own events; a vector clock says how many events of each rank are known to have happened. Of a
// send or receive only the start is an event. It touches its memory until some later event of its own rank waits for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "verify/verify.h"

namespace hcomm {

using Time = std::uint32_t;
using VectorClock = std::vector<Time>;  // one entry per rank

inline void merge(VectorClock& clock, const VectorClock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

inline constexpr std::uint32_t kCallerFills = UINT32_MAX;        // in place of an op: the caller, before the call ...
inline constexpr std::uint32_t kCallerReturns = UINT32_MAX - 1;  // ... and after it
inline constexpr std::uint32_t kNoFlight = UINT32_MAX;  // the access had ended when its op ended

constexpr bool is_caller(std::uint32_t op) { return op >= kCallerReturns; }

struct Access {
  std::uint32_t rank = 0;
  std::uint32_t op = kCallerFills;
  std::uint32_t call = 0;
  std::uint32_t chunk = 0;
  Time time = 0;  // of its rank; 0: nobody, ever
  std::uint32_t flight = kNoFlight;
};

// The calls that are judged, and the epoch each one starts with.
struct Trial {
  explicit Trial(std::span<const Call> all) : calls(all) {
    for (const Call& call : calls) {
      first_epoch.push_back(epochs);
      if (uses_window(call.schedule->shape)) epochs += static_cast<std::uint64_t>(call.chunks);
    }
  }
  int ranks() const { return calls.front().schedule->problem.ranks; }
  int slots() const { return calls.front().schedule->problem.slots; }
  const Schedule& schedule(std::uint32_t call) const { return *calls[call].schedule; }
  // Of a schedule without a window: that of the next one that has.
  std::uint64_t epoch(std::uint32_t call, std::uint32_t chunk) const {
    return first_epoch[call] + (uses_window(schedule(call).shape) ? chunk : 0);
  }
  std::uint32_t slot_index(std::uint32_t call, std::uint32_t chunk) const {
    return static_cast<std::uint32_t>(epoch(call, chunk) % static_cast<std::uint64_t>(slots()));
  }

  std::span<const Call> calls;
  std::vector<std::uint64_t> first_epoch;  // per call
  std::uint64_t epochs = 0;
};

}  // namespace hcomm
