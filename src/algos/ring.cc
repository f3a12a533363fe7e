// Messages travel to the right, around a circle of all ranks; each rank talks to two neighbours only, over channels.
//
// An allreduce makes two trips with as many blocks as ranks. On the first, block b leaves rank b + 1 as that rank's raw
// contribution, gathers one contribution at each stop, and comes home to rank b complete:
//     (..((x[b+1] + x[b+2]) + x[b+3]) + ..) + x[b]        indices modulo the number of ranks
// On the second trip each complete block travels once more and is copied. Every element is thus computed on one rank
// alone, and all ranks end with the same bits. In a reduce the second trip ends at the root, whichever that is: the bits are
// those of the allreduce. On the way sums have the element's own type wherever they may, so that a message is not longer
// than its share: a 16-bit float is rounded once per stop.
//
// Each rank sends and receives the same, 2 (n - 1) / n of the message: the least that is possible. But there are 2 (n - 1) steps.
#include "algos/entries.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

int right_of(const ProgramBuilder& self) { return wrap(self.rank() + 1, self.ranks()); }
int left_of(const ProgramBuilder& self) { return wrap(self.rank() - 1, self.ranks()); }

// The first trip. Blocks arrive in two places of scratch in turn, so that the next one arrives while this one is added up. The
// first is the left neighbour's raw contribution, and still to be prepared; sums may be wider, so its own goes to a third place.
void gather_contributions(ProgramBuilder& self, const Slice& own_block) {
  const int ranks = self.ranks();
  const int steps = ranks - 1;
  const auto arriving = [&](int step) { return wrap(self.rank() - 2 - step, ranks); };
  const auto landing = [&](int step) {
    const Slice place = self.scratch(step % 2, arriving(step));
    return step == 0 ? place : sum(place);
  };
  self.send(self.input(left_of(self)), right_of(self));
  self.recv(landing(0), left_of(self));
  for (int step = 0; step < steps; ++step) {
    const bool home = step + 1 == steps;
    if (!home) self.recv(landing(step + 1), left_of(self));
    const Slice arrived = step == 0 ? prepared(landing(step)) : landing(step);
    const Slice own = prepared(self.input(arriving(step)));
    const Slice on_the_way = step == 0 ? sum(self.scratch(2, arriving(step))) : landing(step);
    self.combine({arrived, own}, {home ? finished(own_block) : on_the_way});
    if (!home) self.send(on_the_way, right_of(self));
  }
}

// The second trip: a rank's own block of the output is known, and all others arrive in turn.
void pass_around(ProgramBuilder& self, const Slice& own) {
  const int ranks = self.ranks();
  const auto arriving = [&](int step) { return self.output(wrap(self.rank() - 1 - step, ranks)); };
  self.recv(arriving(0), left_of(self));
  self.send(own, right_of(self));
  for (int step = 1; step + 1 < ranks; ++step) {
    self.recv(arriving(step), left_of(self));
    self.send(arriving(step - 1), right_of(self));
  }
}

void allreduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  gather_contributions(self, self.output(self.rank()));
  pass_around(self, self.output(self.rank()));
}

void reduce_scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  gather_contributions(self, self.output(self.rank()));
}

// The second trip of a reduce. The rank at the root's right starts with its own block alone; each one sends first its own, then
// what comes from the left, through the two places of scratch.
void pass_to_root(ProgramBuilder& self, const Slice& own) {
  const int behind = wrap(self.rank() - self.root(), self.ranks()) - 1;  // so many ranks between the root and this one
  const auto passing = [&](int step) {
    return self.scratch((self.ranks() + 1 + step) % 2, wrap(self.rank() - 1 - step, self.ranks()));
  };
  if (behind > 0) self.recv(passing(0), left_of(self));
  self.send(own, right_of(self));
  for (int step = 0; step < behind; ++step) {
    if (step + 1 < behind) self.recv(passing(step + 1), left_of(self));
    self.send(passing(step), right_of(self));
  }
}

void reduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int ranks = self.ranks();
  const int rank = self.rank();
  if (rank != self.root()) {
    const Slice own = self.scratch(2, rank);  // where no block of either trip arrives
    gather_contributions(self, own);
    pass_to_root(self, own);
    return;
  }
  gather_contributions(self, self.output(rank));
  for (int step = 1; step < ranks; ++step) self.recv(self.output(wrap(rank - step, ranks)), left_of(self));
}

void allgather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const Slice own = self.input(self.rank());
  pass_around(self, own);
  self.copy(own, self.output(self.rank()));
}

// A chain from the root to its left neighbour. A chunk is cut, so that a rank passes on one block while the next arrives.
constexpr int kChainBlocks = 8;

void broadcast(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int blocks = self.shape().blocks;
  if (self.rank() == self.root()) {
    for (int block = 0; block < blocks; ++block) self.send(self.input(block), right_of(self));
    self.copy(self.input(0, blocks), self.output(0, blocks));
    return;
  }
  const bool last = right_of(self) == self.root();
  self.recv(self.output(0), left_of(self));
  for (int block = 0; block < blocks; ++block) {
    if (block + 1 < blocks) self.recv(self.output(block + 1), left_of(self));
    if (!last) self.send(self.output(block), right_of(self));
  }
}

// A token goes around: when it is back at rank 0, all have come. It goes around again, and lets them leave.
void barrier(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const bool starts = self.rank() == 0;
  if (!starts) self.recv(self.nothing(), left_of(self));
  self.send(self.nothing(), right_of(self));
  self.recv(self.nothing(), left_of(self));
  if (starts || right_of(self) != 0) self.send(self.nothing(), right_of(self));
}

Shape two_trips(const Problem& problem) {
  return {.blocks = problem.ranks, .scratch_units = problem.ranks > 1 ? 3 : 0};
}

Shape chain(const Problem& problem) { return {.blocks = problem.ranks > 1 ? kChainBlocks : 1}; }

Shape tokens(const Problem&) { return {}; }

int once_around(const Problem& problem) { return problem.ranks - 1; }
int twice_around(const Problem& problem) { return 2 * (problem.ranks - 1); }
int token_rounds(const Problem& problem) { return problem.ranks > 1 ? 2 * problem.ranks - 1 : 0; }

}  // namespace

const Family<6> kRing = {{
    {"ring", Collective::allreduce, any_problem, two_trips, twice_around, "ring", allreduce},
    {"ring", Collective::broadcast, any_problem, chain, once_around, "", broadcast},
    {"ring", Collective::reduce_scatter, any_problem, two_trips, once_around, "ring", reduce_scatter},
    {"ring", Collective::allgather, any_problem, block_per_rank, once_around, "", allgather},
    {"ring", Collective::barrier, any_problem, tokens, token_rounds, "", barrier},
    {"ring", Collective::reduce, any_problem, two_trips, twice_around, "ring", reduce},
}};

}  // namespace hcomm
