// What a call's sizes make of a schedule: how many chunks, and where each block of a chunk lies. Pure arithmetic in
// 64 bits, the same on every rank that knows (collective, ranks, count, type, shape, capacity).
//
// For allreduce, broadcast and reduce a chunk is a run of the message and is divided into `blocks` blocks ("split"). For all
// others it is the same run of every block ("strided"; see blocks.h). `count` counts elements: of the message (split),
// of a block (strided).
//
// Blocks of a strided collective may be of unequal lengths (the V variants). Then `count` is the longest, a chunk is the run of
// every block that has so much, and lengths and places come with the call. Where no rank knows all lengths (gather, scatter,
// alltoall) ranks cannot count chunks alike: there is one, of whole blocks.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/bytes.h"
#include "schedule/blocks.h"
#include "schedule/schedule.h"

namespace hcomm {

struct Extent {
  std::size_t offset = 0;  // in elements, from the start of the caller's buffer
  std::size_t length = 0;  // in elements; may be 0

  friend bool operator==(const Extent&, const Extent&) = default;
};

// Lengths and places of the blocks of one rank's call, in elements. Borrowed.
struct UnequalBlocks {
  struct OfSide {
    // By block; of an alltoall by place in the buffer. Of a gather and a scatter the rank's own alone, but on the root.
    std::span<const std::size_t> lengths;
    std::span<const std::size_t> offsets;  // by place in the buffer
  };
  int rank = 0;
  std::array<OfSide, 2> sides;  // [Side]
};

// Whether a rank knows only what it sends and receives itself.
constexpr bool lengths_are_private(Collective collective) {
  return collective == Collective::gather || collective == Collective::scatter || collective == Collective::alltoall;
}

class Partition {
 public:
  Partition() = default;

  // unit_elements: the capacity of a unit, in elements; a positive multiple of granule_elements, which is the number of
  // elements in a cache line (1 if they do not divide it). Split blocks begin at multiples of the granule.
  Partition(const Problem& problem, const Shape& shape, std::size_t count, std::size_t unit_elements,
            std::size_t granule_elements);

  // One chunk of whole blocks, however long they are.
  static Partition of_whole_blocks(const Problem& problem, const Shape& shape);

  std::size_t chunks() const { return chunks_; }

  // Block b of chunk c, in a buffer of that side that holds it. `unequal`: of a V variant, else null.
  Extent block(Side side, std::size_t chunk, std::size_t block, const UnequalBlocks* unequal = nullptr) const;

 private:
  std::size_t chunk_length(std::size_t chunk, std::size_t count) const;
  std::size_t length_of(std::size_t block, Side side, const UnequalBlocks& unequal) const;

  Collective collective_ = Collective::barrier;
  std::size_t ranks_ = 1;
  std::size_t count_ = 0;
  std::size_t blocks_ = 1;
  std::size_t chunk_elements_ = 0;  // of a full chunk (strided: of one block of it)
  std::size_t granule_ = 1;
  std::size_t chunks_ = 0;
};

}  // namespace hcomm
