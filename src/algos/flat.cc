// Everybody shows everything to everybody, once.
//
// A rank copies what others need of its input into its own slot, says so, and then helps itself from the slots of all others.
// One step of synchronisation, and one copy more than needed: the right thing when a message fits a few cache lines, and
// wasteful when it does not, because in an allreduce every rank adds up the whole message by itself.
//
// All contributions meet in one combine, in rank order; so every rank finds the same bits, and a result that overwrites
// the input (in place) is written after the input was read.
#include "algos/entries.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

// Block b of every rank's contribution, in rank order; the own one straight from the input.
std::vector<Slice> contributions(const ProgramBuilder& self, int block) {
  std::vector<Slice> sources;
  for (int peer = 0; peer < self.ranks(); ++peer) {
    sources.push_back(prepared(peer == self.rank() ? self.input(block) : self.slot(peer, block, block)));
  }
  return sources;
}

void allreduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  claim_slot(self);
  self.copy(self.input(0), self.slot(self.rank(), 0, 0));
  self.signal(Phase::filled);
  self.await_others(Phase::filled);
  self.combine(contributions(self, 0), std::array{finished(self.output(0))});
  leave_epoch(self);
}

// The others need not wait: the root reads their slots, never their memory.
void reduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  if (self.rank() == self.root()) {
    self.await_others(Phase::filled);
    self.combine(contributions(self, 0), std::array{finished(self.output(0))});
    self.signal(Phase::finished);
  } else {
    claim_slot(self);
    self.copy(self.input(0), self.slot(self.rank(), 0, 0));
    self.signal(Phase::filled);
    leave_epoch(self);
  }
}

void broadcast(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const Slice shown = self.slot(self.root(), 0, 0);
  if (self.rank() == self.root()) {
    claim_slot(self);
    self.copy(self.input(0), shown);
    self.signal(Phase::filled);
    self.copy(self.input(0), self.output(0));
    leave_epoch(self);
  } else {
    self.await(self.root(), Phase::filled);
    self.copy(shown, self.output(0));
    self.signal(Phase::finished);
  }
}

// The slot has a place for every block but is never asked for the own one.
void reduce_scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  claim_slot(self);
  show_to_others(self, &ProgramBuilder::slot);
  self.signal(Phase::filled);
  self.await_others(Phase::filled);
  self.combine(contributions(self, self.rank()), std::array{finished(self.output(self.rank()))});
  leave_epoch(self);
}

void allgather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  claim_slot(self);
  self.copy(self.input(rank), self.slot(rank, 0, rank));
  self.signal(Phase::filled);
  self.copy(self.input(rank), self.output(rank));
  collect(self, Phase::filled, [&](int peer) { self.copy(self.slot(peer, 0, peer), self.output(peer)); });
  leave_epoch(self);
}

// As of a reduce: the root reads slots, never the memory of others.
void gather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  if (rank == self.root()) {
    self.copy(self.input(rank), self.output(rank));
    collect(self, Phase::filled, [&](int peer) { self.copy(self.slot(peer, 0, peer), self.output(peer)); });
    self.signal(Phase::finished);
  } else {
    claim_slot(self);
    self.copy(self.input(rank), self.slot(rank, 0, rank));
    self.signal(Phase::filled);
    leave_epoch(self);
  }
}

void scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  if (rank == self.root()) {
    claim_slot(self);
    show_to_others(self, &ProgramBuilder::slot);
    self.signal(Phase::filled);
    self.copy(self.input(rank), self.output(rank));
    leave_epoch(self);
  } else {
    self.await(self.root(), Phase::filled);
    self.copy(self.slot(self.root(), rank, rank), self.output(rank));
    self.signal(Phase::finished);
  }
}

void alltoall(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  claim_slot(self);
  show_to_others(self, &ProgramBuilder::slot);
  self.signal(Phase::filled);
  self.copy(self.input(block_between(self, rank, rank)), self.output(block_between(self, rank, rank)));
  collect(self, Phase::filled, [&](int peer) {
    const int block = block_between(self, peer, rank);
    self.copy(self.slot(peer, rank, block), self.output(block));
  });
  leave_epoch(self);
}

// Nobody touches a slot, so who arrives has finished with it, too.
void barrier(ProgramBuilder& self) {
  if (written_alone(self)) return;
  self.signal(Phase::finished);
  self.await_others(Phase::finished);
}

int one_round(const Problem& problem) { return problem.ranks > 1 ? 1 : 0; }

}  // namespace

const Family<9> kFlat = {{
    {"flat", Collective::allreduce, any_problem, message_in_slot, one_round, kRankTree, allreduce},
    {"flat", Collective::broadcast, any_problem, message_in_slot, one_round, "", broadcast},
    {"flat", Collective::reduce_scatter, any_problem, all_blocks_in_slot, one_round, kRankTree, reduce_scatter},
    {"flat", Collective::allgather, any_problem, block_in_slot, one_round, "", allgather},
    {"flat", Collective::barrier, any_problem, message_in_slot, one_round, "", barrier},
    {"flat", Collective::reduce, any_problem, message_in_slot, one_round, kRankTree, reduce},
    {"flat", Collective::gather, any_problem, block_in_slot, one_round, "", gather},
    {"flat", Collective::scatter, any_problem, all_blocks_in_slot, one_round, "", scatter},
    {"flat", Collective::alltoall, any_problem, block_for_each_in_slot, one_round, "", alltoall},
}};

}  // namespace hcomm
