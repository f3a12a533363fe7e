// What a call's sizes make of a schedule: how many chunks, and where each block of a chunk lies. Pure arithmetic in
// 64 bits, the same on every rank that knows (collective, ranks, count, type, shape, capacity).
//
// Blocks have one identity everywhere. For allreduce, broadcast and reduce a chunk is a run of the message and is divided
// into `blocks` blocks ("split"). For reduce-scatter and allgather there are as many blocks as ranks, block b is
// rank b's part, and a chunk is the same run of every part ("strided"): reduce-scatter has all blocks in the input and
// its own one in the output, allgather has its own one in the input and all in the output. `count` counts elements:
// of the message (split), of one rank's part (strided).
#pragma once

#include <cstddef>

#include "base/bytes.h"
#include "schedule/schedule.h"

namespace hcomm {

struct Extent {
  std::size_t offset = 0;  // in elements, from the start of the caller's buffer
  std::size_t length = 0;  // in elements; may be 0

  friend bool operator==(const Extent&, const Extent&) = default;
};

constexpr bool is_strided(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::allgather;
}

class Partition {
 public:
  Partition() = default;

  // unit_elements: the capacity of a unit, in elements; a positive multiple of granule_elements, which is the number of
  // elements in a cache line (1 if they do not divide it). Split blocks begin at multiples of the granule.
  Partition(const Problem& problem, const Shape& shape, std::size_t count, std::size_t unit_elements,
            std::size_t granule_elements);

  std::size_t chunks() const { return chunks_; }

  // Block b of chunk c. The offset is that of the side which has all blocks ...
  Extent block(std::size_t chunk, std::size_t block) const;
  // ... and this is the offset on the side of a strided collective that has one block alone.
  Extent lone_block(std::size_t chunk) const;

 private:
  std::size_t chunk_length(std::size_t chunk) const;

  bool strided_ = false;
  std::size_t count_ = 0;
  std::size_t blocks_ = 1;
  std::size_t chunk_elements_ = 0;  // of a full chunk (strided: of one block of it)
  std::size_t granule_ = 1;
  std::size_t chunks_ = 0;
};

}  // namespace hcomm
