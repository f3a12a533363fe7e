// Whose buffers hold which blocks of a collective, and where. Blocks have one identity everywhere, whoever holds them:
//
//   allreduce, broadcast, reduce    the message is divided ("split"), and all blocks lie in each buffer
//   reduce_scatter, scatter         a block for each rank; all of them in an input, a rank's own one in its output
//   allgather, gather               a block for each rank; a rank's own one in its input, all of them in an output
//   alltoall                        a block for each pair: block from * ranks + to. In the input of rank r those from r, in its
//                                   output those to r, both in the order of the other rank
//
// All but the first are "strided": a chunk is the same run of every block.
#pragma once

#include "schedule/problem.h"

namespace hcomm {

enum class Side : std::uint8_t { input, output };

constexpr bool is_strided(Collective collective) {
  return collective != Collective::allreduce && collective != Collective::broadcast && collective != Collective::reduce &&
         collective != Collective::barrier;
}

// Of a strided collective.
constexpr int strided_blocks(Collective collective, int ranks) {
  return collective == Collective::alltoall ? ranks * ranks : ranks;
}

// Whether a rank's buffer on that side has its own block alone.
constexpr bool is_lone(Collective collective, Side side) {
  if (side == Side::input) return collective == Collective::allgather || collective == Collective::gather;
  return collective == Collective::reduce_scatter || collective == Collective::scatter;
}

// How many parts of `count` elements each a buffer has, if the caller passes it at all.
constexpr int parts_of(Collective collective, Side side, int ranks) {
  return is_strided(collective) && !is_lone(collective, side) ? ranks : 1;
}

// Where a block lies among those of a buffer that holds it, whoever's.
constexpr std::size_t place_of(Collective collective, Side side, std::size_t ranks, std::size_t block) {
  if (is_lone(collective, side)) return 0;
  if (collective == Collective::alltoall) return side == Side::input ? block % ranks : block / ranks;
  return block;
}

// The blocks of one side of one rank's call, by their place: first, first + step, ...
struct HeldBlocks {
  int first = 0;
  int count = 0;
  int step = 1;

  constexpr int at(int place) const { return first + place * step; }
  constexpr bool has(int block) const {
    return block >= first && (block - first) % step == 0 && (block - first) / step < count;
  }
};

// `blocks`: of the shape. None where the caller of that rank passes no such buffer.
constexpr HeldBlocks held_blocks(const Problem& problem, int blocks, Side side, int rank) {
  const bool is_root = rank == problem.root;
  const bool passed = side == Side::input ? has_input(problem.collective, is_root) : has_output(problem.collective, is_root);
  if (!passed) return {};
  if (is_lone(problem.collective, side)) return {.first = rank, .count = 1};
  if (problem.collective != Collective::alltoall) return {.count = blocks};
  if (side == Side::input) return {.first = rank * problem.ranks, .count = problem.ranks};
  return {.first = rank, .count = problem.ranks, .step = problem.ranks};
}

// The block of the input that lies where a block of the rank's output does, in a call that is in place; -1 if none does.
constexpr int input_beneath(const Problem& problem, int rank, int output_block) {
  if (problem.collective == Collective::alltoall) return rank * problem.ranks + output_block / problem.ranks;
  return !is_strided(problem.collective) || output_block == rank ? output_block : -1;
}

// A rank whose output overwrites blocks of its input that peers still want shows them a copy. All other collectives
// overwrite only what nobody reads any more.
constexpr bool shows_input_in_place(Collective collective) { return collective != Collective::alltoall; }

}  // namespace hcomm
