// What is to be done, without sizes, types or pointers: all that an algorithm may look at.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/assert.h"

namespace hcomm {

enum class Collective : std::uint8_t {
  allreduce, broadcast, reduce_scatter, allgather, barrier, reduce, gather, scatter, alltoall
};

inline constexpr std::array kCollectives = {Collective::allreduce, Collective::broadcast, Collective::reduce_scatter,
                                            Collective::allgather, Collective::barrier,   Collective::reduce,
                                            Collective::gather,    Collective::scatter,   Collective::alltoall};

constexpr std::string_view name(Collective collective) {
  switch (collective) {
    case Collective::allreduce:      return "allreduce";
    case Collective::broadcast:      return "broadcast";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::allgather:      return "allgather";
    case Collective::barrier:        return "barrier";
    case Collective::reduce:         return "reduce";
    case Collective::gather:         return "gather";
    case Collective::scatter:        return "scatter";
    case Collective::alltoall:       return "alltoall";
  }
  unreachable();
}

constexpr bool has_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce || collective == Collective::gather ||
         collective == Collective::scatter;
}
constexpr bool reduces(Collective collective) {
  return collective == Collective::allreduce || collective == Collective::reduce_scatter || collective == Collective::reduce;
}

// Whose buffers the caller passes: of a broadcast and a scatter the root alone has an input, of a reduce and a gather the root
// alone an output.
constexpr bool has_input(Collective collective, bool is_root) {
  const bool of_root_alone = collective == Collective::broadcast || collective == Collective::scatter;
  return collective != Collective::barrier && (!of_root_alone || is_root);
}
constexpr bool has_output(Collective collective, bool is_root) {
  const bool of_root_alone = collective == Collective::reduce || collective == Collective::gather;
  return collective != Collective::barrier && (!of_root_alone || is_root);
}

inline constexpr int kMaxRanks = 4096;
inline constexpr int kMaxSlots = 8;

struct Problem {
  Collective collective = Collective::allreduce;
  int ranks = 1;
  int root = 0;   // 0 where the collective has no root
  int slots = 2;  // slots per rank in the window; at least 1

  friend bool operator==(const Problem&, const Problem&) = default;
};

// How a schedule divides a chunk, and the room it needs. The same on every rank, because the binding's chunk size,
// which all ranks must share, follows from it. A unit holds one block, whatever the block's real length.
struct Shape {
  int blocks = 1;         // into so many blocks a chunk is divided; see binding.h for what a block is
  int scratch_units = 0;  // private scratch
  int slot_units = 0;     // each slot of each rank's window; 0: this schedule uses no window

  friend bool operator==(const Shape&, const Shape&) = default;
};

// Epochs and steps belong to schedules that use a window. Others take no epoch: nobody in them could signal, and the next
// one that looks back would wait for ever.
constexpr bool uses_window(const Shape& shape) { return shape.slot_units > 0; }

}  // namespace hcomm
