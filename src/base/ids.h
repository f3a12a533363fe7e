// Numbers that name things, in one place each.
#pragma once

#include <cstdint>

namespace hcomm {

// A rank of a communicator: 0 .. ranks - 1. Plain int in arithmetic; this where it is stored.
using Rank = std::int32_t;

// Nobody: an operation without a peer, a verdict without a culprit, a search that found none.
inline constexpr Rank kNoRank = -1;

}  // namespace hcomm
