#include "plan/sizing.h"

#include <algorithm>

#include "base/bytes.h"

namespace hcomm {
namespace {

std::size_t whole_lines(std::size_t bytes) { return bytes / kCacheLineBytes * kCacheLineBytes; }

}  // namespace

std::size_t unit_bytes(const Shape& shape, const Room& room) {
  const std::size_t share = whole_lines(room.chunk_bytes / static_cast<std::size_t>(shape.blocks));
  const std::size_t wanted = std::clamp(share, kCacheLineBytes, kUnitLimitBytes);
  if (shape.slot_units == 0) return wanted;
  if (!room.has_window) return 0;
  return std::min(wanted, whole_lines(room.slot_bytes / static_cast<std::size_t>(shape.slot_units)));
}

}  // namespace hcomm
