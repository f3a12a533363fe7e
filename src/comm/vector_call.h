// The V variants: collectives whose parts have lengths and places of their own. From what the user passes to a CollectiveCall.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "comm/arguments.h"

namespace hcomm {

// As in hcomm.h. What a variant has no list of is null: then its one length counts.
struct VectorCall {
  Collective collective = Collective::allgather;
  const void* send = nullptr;
  std::size_t send_count = 0;                   // allgather, gather
  const std::size_t* send_counts = nullptr;     // [rank]: scatter, alltoall, and of reduce_scatter what each rank receives
  const std::size_t* send_offsets = nullptr;    // [rank]; null: one part after the other
  void* recv = nullptr;
  std::size_t recv_count = 0;                   // scatter
  const std::size_t* recv_counts = nullptr;     // [rank]: allgather, gather, alltoall
  const std::size_t* recv_offsets = nullptr;
  hcommDataType_t dtype = hcommInt8;
  hcommRedOp_t op = hcommSum;
  int root = 0;
};

// Copies of the lists, and the call that borrows them.
class UnequalParts {
 public:
  // InvalidArgument for a list that is missing, lengths that contradict each other or are more than memory can hold, and parts
  // that would be received one over another. Reads the lists, and none of the buffers.
  static Result<UnequalParts> of(const VectorCall& call, int rank, int ranks);

  // Borrows from this, wherever this is now.
  CollectiveCall call();

 private:
  struct Lists {
    std::vector<std::size_t> lengths;
    std::vector<std::size_t> offsets;
  };
  void read_sides(const VectorCall& call, int rank, int ranks);

  VectorCall given_;  // its lists are not used any more
  Lists lists_[2];    // [Side]
  UnequalBlocks blocks_;
  std::size_t most_ = 0;
  std::uint64_t hash_ = 0;
};

// From the start of the buffer to the end of its last part, of a V variant; 0 where this rank has no such buffer.
std::size_t bytes_of(const CollectiveCall& call, Side side);

}  // namespace hcomm
