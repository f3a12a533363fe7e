#include "schedule/binding.h"

#include <algorithm>
#include <limits>

namespace hcomm {

Partition::Partition(const Problem& problem, const Shape& shape, std::size_t count, std::size_t unit_elements,
                     std::size_t granule_elements)
    : collective_(problem.collective),
      ranks_(static_cast<std::size_t>(problem.ranks)),
      count_(count),
      blocks_(static_cast<std::size_t>(shape.blocks)),
      granule_(granule_elements) {
  HCOMM_ASSERT(shape.blocks > 0 && granule_elements > 0);
  HCOMM_ASSERT(unit_elements > 0 && unit_elements % granule_elements == 0);
  chunk_elements_ = is_strided(collective_) ? unit_elements : unit_elements * blocks_;
  if (problem.collective == Collective::barrier) {
    count_ = 0;
    chunks_ = 1;
  } else {
    chunks_ = count / chunk_elements_ + (count % chunk_elements_ != 0);
  }
}

Partition Partition::of_whole_blocks(const Problem& problem, const Shape& shape) {
  HCOMM_ASSERT(is_strided(problem.collective));
  return Partition(problem, shape, 1, std::numeric_limits<std::size_t>::max(), 1);
}

// Of `count` elements.
std::size_t Partition::chunk_length(std::size_t chunk, std::size_t count) const {
  const std::size_t begin = chunk * chunk_elements_;
  return begin >= count ? 0 : std::min(chunk_elements_, count - begin);
}

// A block of an alltoall has its length from whichever side of this rank it is on, also while it lies somewhere else.
std::size_t Partition::length_of(std::size_t block, Side side, const UnequalBlocks& unequal) const {
  if (collective_ != Collective::alltoall) return unequal.sides[static_cast<std::size_t>(side)].lengths[block];
  const Side its_side = block / ranks_ == static_cast<std::size_t>(unequal.rank) ? Side::input : Side::output;
  return unequal.sides[static_cast<std::size_t>(its_side)].lengths[place_of(collective_, its_side, ranks_, block)];
}

Extent Partition::block(Side side, std::size_t chunk, std::size_t block, const UnequalBlocks* unequal) const {
  HCOMM_ASSERT(block < blocks_);
  const std::size_t begin = chunk * chunk_elements_;
  if (unequal != nullptr) {
    const std::size_t length = length_of(block, side, *unequal);
    const std::span<const std::size_t> offsets = unequal->sides[static_cast<std::size_t>(side)].offsets;
    return {.offset = offsets[place_of(collective_, side, ranks_, block)] + begin, .length = chunk_length(chunk, length)};
  }
  const std::size_t length = chunk_length(chunk, count_);
  if (is_strided(collective_)) {
    return {.offset = place_of(collective_, side, ranks_, block) * count_ + begin, .length = length};
  }
  const std::size_t even = round_up((length + blocks_ - 1) / blocks_, granule_);
  const std::size_t first = std::min(block * even, length);
  const std::size_t last = std::min(first + even, length);
  return {.offset = begin + first, .length = last - first};
}

}  // namespace hcomm
