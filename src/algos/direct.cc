// Everybody reads what he needs straight from where it lies, and nobody reads it twice.
//
// What a rank exposes is its own input, if that lies in a window that peers can map, or else a copy of it in the slot; the
// schedule is the same. An allreduce takes two shots: each rank adds up its own block of all contributions and puts the
// result into its slot; then everybody collects the results. The other collectives need one shot.
//
// A peer may be reading the caller's own memory, so no rank returns before all who read from it are done: in an allreduce
// the second shot implies that; elsewhere the epilogue waits for it, once per call.
#include "algos/entries.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

// All blocks but the own one, which nobody else reads.
void expose_for_others(ProgramBuilder& self) {
  claim_slot(self);
  show_to_others(self, &ProgramBuilder::exposed);
  self.signal(Phase::filled);
}

// The own block of all contributions, in rank order.
std::vector<Slice> contributions(const ProgramBuilder& self) {
  const int own = self.rank();
  std::vector<Slice> sources;
  for (int peer = 0; peer < self.ranks(); ++peer) {
    sources.push_back(prepared(peer == own ? self.input(own) : self.exposed(peer, own, own)));
  }
  return sources;
}

void allreduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int own = self.rank();
  expose_for_others(self);
  self.await_others(Phase::filled);
  self.combine(contributions(self), std::array{finished(self.slot(own, own, own)), finished(self.output(own))});
  self.signal(Phase::reduced);
  collect(self, Phase::reduced, [&](int peer) { self.copy(self.slot(peer, peer, peer), self.output(peer)); });
  leave_epoch(self);
}

// As an allreduce, but the root alone collects. The others know that their own memory is read no more when all blocks are
// added up; in the epilogue they wait for that.
void reduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int own = self.rank();
  const bool is_root = own == self.root();
  expose_for_others(self);
  self.await_others(Phase::filled);
  self.combine(contributions(self), std::array{finished(is_root ? self.output(own) : self.slot(own, own, own))});
  self.signal(Phase::reduced);
  if (is_root) collect(self, Phase::reduced, [&](int peer) { self.copy(self.slot(peer, peer, peer), self.output(peer)); });
  leave_epoch(self);
  if (is_root) return;
  self.epilogue();
  self.await_others(Phase::reduced);
}

void broadcast(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const Slice shown = self.exposed(self.root(), 0, 0);
  if (self.rank() == self.root()) {
    claim_slot(self);
    self.copy(self.input(0), shown);
    self.signal(Phase::filled);
    self.copy(self.input(0), self.output(0));
    leave_epoch(self);
    self.epilogue();
    self.await_others(Phase::finished);
  } else {
    self.await(self.root(), Phase::filled);
    self.copy(shown, self.output(0));
    self.signal(Phase::finished);
  }
}

void reduce_scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  expose_for_others(self);
  self.await_others(Phase::filled);
  self.combine(contributions(self), std::array{finished(self.output(self.rank()))});
  self.signal(Phase::finished);
  self.epilogue();
  self.await_others(Phase::finished);
}

void allgather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  claim_slot(self);
  self.copy(self.input(rank), self.exposed(rank, 0, rank));
  self.signal(Phase::filled);
  self.copy(self.input(rank), self.output(rank));
  collect(self, Phase::filled, [&](int peer) { self.copy(self.exposed(peer, 0, peer), self.output(peer)); });
  self.signal(Phase::finished);
  self.epilogue();
  self.await_others(Phase::finished);
}

// The others may not return while the root reads from them.
void gather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  if (rank == self.root()) {
    self.copy(self.input(rank), self.output(rank));
    collect(self, Phase::filled, [&](int peer) { self.copy(self.exposed(peer, 0, peer), self.output(peer)); });
    self.signal(Phase::finished);
    return;
  }
  claim_slot(self);
  self.copy(self.input(rank), self.exposed(rank, 0, rank));
  self.signal(Phase::filled);
  leave_epoch(self);
  self.epilogue();
  self.await(self.root(), Phase::finished);
}

void scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  if (rank == self.root()) {
    expose_for_others(self);
    self.copy(self.input(rank), self.output(rank));
    leave_epoch(self);
    self.epilogue();
    self.await_others(Phase::finished);
  } else {
    self.await(self.root(), Phase::filled);
    self.copy(self.exposed(self.root(), rank, rank), self.output(rank));
    self.signal(Phase::finished);
  }
}

// In place a rank overwrites what it shows, so then it shows a copy (shows_input_in_place).
void alltoall(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  expose_for_others(self);
  self.copy(self.input(block_between(self, rank, rank)), self.output(block_between(self, rank, rank)));
  collect(self, Phase::filled, [&](int peer) {
    const int block = block_between(self, peer, rank);
    self.copy(self.exposed(peer, rank, block), self.output(block));
  });
  self.signal(Phase::finished);
  self.epilogue();
  self.await_others(Phase::finished);
}

// All come to rank 0, which lets them go: 2 (n - 1) looks at flags instead of n (n - 1). Nobody touches a slot, so who
// arrives has finished with it, too.
void barrier(ProgramBuilder& self) {
  if (written_alone(self)) return;
  if (self.rank() == 0) {
    self.await_others(Phase::finished);
    self.signal(Phase::finished);
  } else {
    self.signal(Phase::finished);
    self.await(0, Phase::finished);
  }
}

// The second round of the one-shot collectives is the wait for the last reader.
int two_rounds(const Problem& problem) { return problem.ranks > 1 ? 2 : 0; }

}  // namespace

const Family<9> kDirect = {{
    {"direct", Collective::allreduce, any_problem, all_blocks_in_slot, two_rounds, kRankTree, allreduce},
    {"direct", Collective::broadcast, any_problem, message_in_slot, two_rounds, "", broadcast},
    {"direct", Collective::reduce_scatter, any_problem, all_blocks_in_slot, two_rounds, kRankTree, reduce_scatter},
    {"direct", Collective::allgather, any_problem, block_in_slot, two_rounds, "", allgather},
    {"direct", Collective::barrier, any_problem, message_in_slot, two_rounds, "", barrier},
    {"direct", Collective::reduce, any_problem, all_blocks_in_slot, two_rounds, kRankTree, reduce},
    {"direct", Collective::gather, any_problem, block_in_slot, two_rounds, "", gather},
    {"direct", Collective::scatter, any_problem, all_blocks_in_slot, two_rounds, "", scatter},
    {"direct", Collective::alltoall, any_problem, block_for_each_in_slot, two_rounds, "", alltoall},
}};

}  // namespace hcomm
