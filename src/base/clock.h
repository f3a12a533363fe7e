// Time. Decisions take the time as an argument; only the outermost loops ask a clock.
#pragma once

#include <cstdint>

namespace hcomm {

using TimeNs = std::int64_t;  // nanoseconds since an arbitrary start; never goes back

inline constexpr TimeNs kNever = INT64_MAX;
inline constexpr TimeNs kMicrosecond = 1'000;
inline constexpr TimeNs kMillisecond = 1'000'000;
inline constexpr TimeNs kSecond = 1'000'000'000;

// a + b, kNever when that is past the end of time.
constexpr TimeNs add_saturated(TimeNs a, TimeNs b) {
  TimeNs sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kNever : sum;
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimeNs now() const = 0;
};

// CLOCK_MONOTONIC; any thread.
class MonotonicClock final : public Clock {
 public:
  TimeNs now() const override;
};

// Moves when told to; for tests. One thread.
class ManualClock final : public Clock {
 public:
  TimeNs now() const override { return now_; }
  void advance(TimeNs by) { now_ += by; }

 private:
  TimeNs now_ = 0;
};

}  // namespace hcomm
