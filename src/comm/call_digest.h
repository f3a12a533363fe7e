// What all ranks must call alike, in one word, so that a call that does not fit is an error and never a wrong tail or a hang.
#pragma once

#include <cstdint>

#include "comm/arguments.h"
#include "schedule/problem.h"

namespace hcomm {

// Of the collective, count, type, operation and root (where they mean something), and the number of the call.
inline std::uint64_t call_digest(const CollectiveCall& call, std::uint64_t number) {
  const auto mix = [](std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15u;
    return state ^ (state >> 32);
  };
  const std::uint64_t kind = static_cast<std::uint64_t>(call.collective) | static_cast<std::uint64_t>(call.dtype) << 8 |
                             (reduces(call.collective) ? static_cast<std::uint64_t>(call.op) << 16 : 0) |
                             (has_root(call.collective) ? static_cast<std::uint64_t>(call.root) << 32 : 0);
  return mix(mix(mix(0x5bd1e995, kind), call.count), number);
}

// A digest that says for which call it is: the number's low 16 bits (never 0 for the first ones) below 48 bits of the digest.
// Ranks are never so far apart that the number's low bits repeat.
inline std::uint64_t call_tag(std::uint64_t digest, std::uint64_t number) { return digest << 16 | ((number + 1) & 0xffff); }

// Whether two tags are of calls with the same number that do not fit.
inline bool tags_clash(std::uint64_t a, std::uint64_t b) { return a != b && (a & 0xffff) == (b & 0xffff); }

}  // namespace hcomm
