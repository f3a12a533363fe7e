// Numbers that look random and are the same on every machine for the same seed; for tests, faults and fuzzing, never for
// secrets. The state counts up in odd steps and each count is scrambled, so that every seed, 0 too, is a good one.
#pragma once

#include <cstdint>

#include "base/assert.h"

namespace hcomm {

// One thread. Copies continue alike.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio: visits all values before it repeats
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }

  // In [0, bound), each equally likely; bound is at least 1. The first 2^64 mod bound values are drawn again: less
  // than one draw in two.
  std::uint64_t below(std::uint64_t bound) {
    HCOMM_ASSERT(bound > 0);
    const std::uint64_t unfair = (0 - bound) % bound;  // 2^64 mod bound
    for (;;) {
      const std::uint64_t draw = next();
      if (draw >= unfair) return draw % bound;
    }
  }

  // In [0, 1), in steps of 2^-53.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace hcomm
