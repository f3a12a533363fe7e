// A call in the words that all ranks must make alike, and the digest by which they compare it: so that a call that does not fit
// is an error and never a wrong tail or a hang.
//
// Each digest covers the one before it. Equal digests say that two ranks have made the same calls since they met, and of
// different ones the first that differs can be found as long as both are remembered (board.h).
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "hcomm/types.h"
#include "schedule/problem.h"

namespace hcomm {

struct CallWords {
  Collective collective = Collective::barrier;
  bool unequal = false;  // a V variant; its count is a hash of the lengths, or 0 where each rank knows only its own
  hcommDataType_t dtype = hcommInt8;
  hcommRedOp_t op = hcommSum;  // hcommSum where nothing is reduced
  Rank root = 0;               // 0 where there is none
  std::uint64_t count = 0;
  std::uint64_t number = 0;  // of the call in its communicator; 0 is the ranks' first meeting
  std::uint64_t before = 0;  // the digest of the call before it; 0 for the first

  friend bool operator==(const CallWords&, const CallWords&) = default;
};

// The same as it lies in shared memory and goes over a wire.
struct PackedCall {
  std::uint64_t kind = 0;  // collective, type, operation, whether it is a V variant: a byte each; then the root
  std::uint64_t count = 0;
  std::uint64_t number = 0;
  std::uint64_t before = 0;
};

constexpr PackedCall pack(const CallWords& call) {
  const std::uint64_t kind = static_cast<std::uint64_t>(call.collective) | (static_cast<std::uint64_t>(call.dtype) & 0xff) << 8 |
                             (static_cast<std::uint64_t>(call.op) & 0xff) << 16 |
                             static_cast<std::uint64_t>(call.unequal) << 24 | static_cast<std::uint64_t>(call.root) << 32;
  return {.kind = kind, .count = call.count, .number = call.number, .before = call.before};
}

// Null unless the collective is one and the root a rank. A type or an operation that is none has the name "?".
std::optional<CallWords> unpack(const PackedCall& packed, int ranks);

// Takes one more word into a digest.
constexpr std::uint64_t digest_step(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15u;
  return state ^ state >> 32;
}

inline constexpr std::uint64_t kEmptyDigest = 0x5bd1e995;

constexpr std::uint64_t call_digest(const PackedCall& call) {
  std::uint64_t state = kEmptyDigest;
  for (const std::uint64_t word : {call.kind, call.count, call.number, call.before}) state = digest_step(state, word);
  return state;
}

constexpr std::uint64_t call_digest(const CallWords& call) { return call_digest(pack(call)); }

}  // namespace hcomm
