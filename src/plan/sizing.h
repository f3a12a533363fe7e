// How large a unit is. The same on every rank, because it follows from facts that every rank has.
#pragma once

#include <cstddef>

#include "schedule/problem.h"

namespace hcomm {

// A block that was just moved is still in the cache when it is used.
inline constexpr std::size_t kUnitLimitBytes = 256u << 10;

struct Room {
  std::size_t chunk_bytes = 4u << 20;  // HCOMM_CHUNK_SIZE; no chunk is larger, but a block has at least a line
  bool has_window = false;
  std::size_t slot_bytes = 0;  // of each slot of the window
};

// Bytes of elements in one unit: a positive multiple of a cache line. 0 when the shape needs a window and there is none, or
// a slot has no room for a line at each of its places.
std::size_t unit_bytes(const Shape& shape, const Room& room);

}  // namespace hcomm
