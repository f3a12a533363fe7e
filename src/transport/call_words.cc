#include "transport/call_words.h"

#include <algorithm>

namespace hcomm {

std::optional<CallWords> unpack(const PackedCall& packed, int ranks) {
  const auto collective = static_cast<Collective>(packed.kind & 0xff);
  const std::uint64_t root = packed.kind >> 32;
  const bool sound = std::ranges::find(kCollectives, collective) != kCollectives.end() &&
                     root < static_cast<std::uint64_t>(ranks) && packed.number < UINT64_MAX &&
                     (packed.kind >> 24 & 0xff) <= 1;
  if (!sound) return std::nullopt;
  return CallWords{.collective = collective,
                   .unequal = (packed.kind >> 24 & 1) != 0,
                   .dtype = static_cast<hcommDataType_t>(packed.kind >> 8 & 0xff),
                   .op = static_cast<hcommRedOp_t>(packed.kind >> 16 & 0xff),
                   .root = static_cast<Rank>(root),
                   .count = packed.count,
                   .number = packed.number,
                   .before = packed.before};
}

}  // namespace hcomm
