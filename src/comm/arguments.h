// A collective call as the user made it, and what can be wrong with it by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "hcomm/types.h"
#include "schedule/binding.h"
#include "schedule/problem.h"
#include "transport/call_words.h"

namespace hcomm {

struct CollectiveCall {
  Collective collective = Collective::barrier;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;  // as in hcomm.h: of the message, or of one rank's part
  hcommDataType_t dtype = hcommInt8;
  hcommRedOp_t op = hcommSum;
  int root = 0;
  // Of a V variant: lengths and places (borrowed), and a hash of the lengths that all ranks know. Then count is the most of them
  // that this rank knows.
  const UnequalBlocks* unequal = nullptr;
  std::uint64_t lengths_hash = 0;

  // Whether ranks may have to wait for each other.
  bool does_something() const {
    return count != 0 || collective == Collective::barrier || (unequal != nullptr && lengths_are_private(collective));
  }
};

// What other ranks must call alike. `before`: the digest of the call before it.
constexpr CallWords words_of(const CollectiveCall& call, std::uint64_t number, std::uint64_t before) {
  return {.collective = call.collective,
          .unequal = call.unequal != nullptr,
          .dtype = call.dtype,
          .op = reduces(call.collective) ? call.op : hcommSum,
          .root = has_root(call.collective) ? call.root : 0,
          .count = call.unequal != nullptr ? call.lengths_hash : call.count,
          .number = number,
          .before = before};
}

// Where a buffer lies.
struct Region {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;

  bool overlaps(const Region& other) const { return begin < other.begin + other.bytes && other.begin < begin + bytes; }
};

// InvalidArgument for a type, an operation or a root that there is not, or that do not go together.
Status check_kind(const CollectiveCall& call, int ranks);

// InvalidArgument, naming the argument, its value and what is legal. Reads no memory that the call points to.
Status check_arguments(const CollectiveCall& call, int rank, int ranks);

}  // namespace hcomm
