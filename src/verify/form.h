// What can be said of a schedule without running it: that it is well formed, and that every slice lies in its buffer and
// may be used as it is.
#pragma once

#include "verify/verify.h"

namespace hcomm {

// Larger schedules are refused, so that a judgement needs bounded memory.
inline constexpr int kMaxBlocks = 1 << 16;
inline constexpr int kMaxUnits = 1 << 16;
inline constexpr std::int64_t kMaxBlocksOfAllRanks = 1 << 22;
inline constexpr std::uint64_t kMaxTouchedBlocks = 1u << 28;  // by one pass over all programs

Judgement check_form(const Schedule& schedule);

// That they can follow each other on one communicator.
Judgement check_calls(std::span<const Call> calls);

}  // namespace hcomm
