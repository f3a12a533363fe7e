// What several algorithms say in the same words.
#pragma once

#include "schedule/blocks.h"
#include "schedule/builder.h"

namespace hcomm {

// All contributions in one combine, in rank order: the balanced tree over the ranks.
inline constexpr std::string_view kRankTree = "rank tree";

inline bool any_problem(const Problem&) { return true; }

// `rank` on a circle of so many ranks; for rank in [-ranks, 2 * ranks).
constexpr int wrap(int rank, int ranks) { return (rank + ranks) % ranks; }

// A rank alone has its result at hand. True if that was so, and then the program is complete.
inline bool written_alone(ProgramBuilder& self) {
  if (self.ranks() > 1) return false;
  const Collective collective = self.problem().collective;
  if (collective == Collective::barrier) return true;
  if (reduces(collective)) {
    self.combine({prepared(self.input(0))}, {finished(self.output(0))});
  } else {
    self.copy(self.input(0), self.output(0));
  }
  return true;
}

// Of an alltoall: what `from` has for `to`.
inline int block_between(const ProgramBuilder& self, int from, int to) { return from * self.ranks() + to; }

// Over channels alone, with nothing to keep.
inline Shape block_per_rank(const Problem& problem) { return {.blocks = problem.ranks}; }

// Shapes over the window; a rank alone needs none. In a slot lies the whole message ...
inline Shape message_in_slot(const Problem& problem) { return {.blocks = 1, .slot_units = problem.ranks > 1 ? 1 : 0}; }

// ... or one block of as many as there are ranks ...
inline Shape block_in_slot(const Problem& problem) {
  return {.blocks = problem.ranks, .slot_units = problem.ranks > 1 ? 1 : 0};
}

// ... or all of them, each at the place of its number.
inline Shape all_blocks_in_slot(const Problem& problem) {
  return {.blocks = problem.ranks, .slot_units = problem.ranks > 1 ? problem.ranks : 0};
}

// The same for an alltoall: a place for each peer.
inline Shape block_for_each_in_slot(const Problem& problem) {
  return {.blocks = strided_blocks(problem.collective, problem.ranks), .slot_units = problem.ranks > 1 ? problem.ranks : 0};
}

// The blocks of the input that are for others, each to the place of its rank in what is shown of this one: a slot, or exposed.
using Shown = Slice (ProgramBuilder::*)(int owner, int place, int first, int count) const;
inline void show_to_others(ProgramBuilder& self, Shown shown) {
  const bool of_pairs = self.problem().collective == Collective::alltoall;
  const auto show = [&](int first, int last) {
    if (first == last) return;
    const int block = of_pairs ? block_between(self, self.rank(), first) : first;
    self.copy(self.input(block, last - first), (self.*shown)(self.rank(), first, block, last - first));
  };
  show(0, self.rank());
  show(self.rank() + 1, self.ranks());
}

// From every other rank, starting at the right neighbour: once it has come to that phase, `copy` takes what it shows.
template <class Copy>  // Copy: (peer)
void collect(ProgramBuilder& self, Phase phase, Copy&& copy) {
  for (int distance = 1; distance < self.ranks(); ++distance) {
    const int peer = wrap(self.rank() + distance, self.ranks());
    self.await(peer, phase);
    copy(peer);
  }
}

// Before a rank writes its own slot, all readers of the slot's last use are done with it.
inline void claim_slot(ProgramBuilder& self) { self.await_others(Phase::finished, self.problem().slots); }

// A rank that has signalled in this epoch touches its slots no more. With two slots or more nobody asks before the next
// epoch, in which every rank signals again and thereby says so; with a single slot the next epoch itself asks.
inline void leave_epoch(ProgramBuilder& self) {
  if (self.problem().slots == 1) self.signal(Phase::finished);
}

}  // namespace hcomm
