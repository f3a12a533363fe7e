// Halve the ranks, let each half agree, then let the halves tell each other: ceil(log2 n) rounds for any number of ranks.
//
// How ranks are halved, also where halves are uneven, and who is whose partner: see halves.h. Going up (allreduce, allgather,
// barrier), both halves have what belongs to them, and each rank gets the other half's from its partner; so in a round every
// rank receives once, and one rank may send twice. An allreduce adds (lower half) + (upper half), everywhere the same tree, in
// the format of partial results, and rounds once at the end. A reduce is the same with one rank of each half listening.
//
// Going down (reduce-scatter, broadcast, scatter), a rank sheds what the other half is responsible for; a gather comes up the
// same way.
#include <ranges>

#include "algos/entries.h"
#include "algos/halves.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

// A half of one rank has its raw contribution to tell, any other a partial sum. Sums alternate between two places, so that
// the last one may still be on its way while the next is written; what arrives lands in the third.
void allreduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Split> splits = splits_of(self.rank(), self.ranks());
  Slice held = self.input(0);
  int place = 0;
  for (auto split = splits.rbegin(); split != splits.rend(); ++split) {
    const Slice landing = split->other.count == 1 ? self.scratch(2, 0) : partial(self.scratch(2, 0));
    send_to_partnered(self, held, *split);
    self.recv(landing, partner_of(self.rank(), *split));
    const bool is_lower = split->is_lower();
    const Slice sum = split + 1 == splits.rend() ? finished(self.output(0)) : partial(self.scratch(place, 0));
    self.combine({operand(is_lower ? held : landing), operand(is_lower ? landing : held)}, {sum});
    held = sum;
    place = 1 - place;
  }
}

// A split on the way from all ranks down to one: who holds the message, or takes the sum, of the range that is split, and who
// in the half where that rank is not.
struct Handover {
  Split split;
  int holder = 0;
  int other = 0;
};

std::vector<Handover> handovers_of(const ProgramBuilder& self) {
  std::vector<Handover> list;
  int holder = self.root();
  for (const Split& split : splits_of(self.rank(), self.ranks())) {
    const bool is_here = split.mine.contains(holder);
    const Split seen = is_here ? split : Split{.mine = split.other, .other = split.mine};
    const int other = partner_of(holder, seen);
    list.push_back({split, holder, other});
    if (!is_here) holder = other;
  }
  return list;
}

// As an allreduce, but of each half one rank alone learns the sum: the bits are the same, whoever is the root.
void reduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  Slice held = self.input(0);
  for (const Handover& each : handovers_of(self) | std::views::reverse) {
    if (self.rank() == each.other) return self.send(held, each.holder);
    HCOMM_ASSERT(self.rank() == each.holder);
    const Slice landing = each.split.other.count == 1 ? self.scratch(1, 0) : partial(self.scratch(1, 0));
    self.recv(landing, each.other);
    const bool is_lower = each.split.is_lower();
    const bool is_last = each.split.whole().count == self.ranks();
    const Slice sum = is_last ? finished(self.output(0)) : partial(self.scratch(0, 0));
    self.combine({operand(is_lower ? held : landing), operand(is_lower ? landing : held)}, {sum});
    held = sum;
  }
}

// One rank of a range has the message; at each split it gives it to one rank of the half that has none.
void broadcast(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const bool is_root = self.rank() == self.root();
  for (const Handover& each : handovers_of(self)) {
    if (self.rank() == each.holder) self.send(is_root ? self.input(0) : self.output(0), each.other);
    if (self.rank() == each.other) self.recv(self.output(0), each.holder);
  }
  if (is_root) self.copy(self.input(0), self.output(0));
}

// The other way round: who holds a half's blocks gives them to who holds the other half's.
void gather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  const bool is_root = rank == self.root();
  const auto kept = [&](const Range& ranks) {
    return is_root ? self.output(ranks.first, ranks.count) : self.scratch(ranks.first, ranks.first, ranks.count);
  };
  bool has_more = is_root;  // than its own block, which then lies among the others
  if (is_root) self.copy(self.input(rank), self.output(rank));
  for (const Handover& each : handovers_of(self) | std::views::reverse) {
    const Split& split = each.split;
    if (rank == each.other) return self.send(has_more ? kept(split.mine) : self.input(rank), each.holder);
    if (!has_more) self.copy(self.input(rank), self.scratch(rank, rank));
    has_more = true;
    self.recv(kept(split.other), each.other);
  }
}

void scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  const bool is_root = rank == self.root();
  const auto kept = [&](const Range& ranks) {
    return is_root ? self.input(ranks.first, ranks.count) : self.scratch(ranks.first, ranks.first, ranks.count);
  };
  for (const Handover& each : handovers_of(self)) {
    const Range& mine = each.split.mine;
    if (rank == each.holder) self.send(kept(each.split.other), each.other);
    if (rank != each.other) continue;
    if (mine.count == 1) return self.recv(self.output(rank), each.holder);
    self.recv(kept(mine), each.holder);
  }
  self.copy(kept({.first = rank, .count = 1}), self.output(rank));
}

void barrier(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Split> splits = splits_of(self.rank(), self.ranks());
  for (const Split& split : splits | std::views::reverse) {
    send_to_partnered(self, self.nothing(), split);
    self.recv(self.nothing(), partner_of(self.rank(), split));
  }
}

Shape two_places(const Problem& problem) { return {.blocks = 1, .scratch_units = problem.ranks > 1 ? 2 : 0}; }

Shape three_places(const Problem& problem) { return {.blocks = 1, .scratch_units = problem.ranks > 1 ? 3 : 0}; }

Shape place_per_rank(const Problem& problem) {
  return {.blocks = problem.ranks, .scratch_units = problem.ranks > 1 ? problem.ranks : 0};
}

Shape whole_message(const Problem&) { return {}; }

int levels(const Problem& problem) { return levels_of(problem.ranks); }

}  // namespace

const Family<8> kRecursiveDoubling = {{
    {"recursive_doubling", Collective::allreduce, any_problem, three_places, levels, kHalves, allreduce},
    {"recursive_doubling", Collective::broadcast, any_problem, whole_message, levels, "", broadcast},
    {"recursive_doubling", Collective::reduce_scatter, any_problem, shape_of_reduce_scatter_by_halves, levels, kFarHalves,
     reduce_scatter_by_halves},
    {"recursive_doubling", Collective::allgather, any_problem, block_per_rank, levels, "", allgather_by_halves},
    {"recursive_doubling", Collective::barrier, any_problem, whole_message, levels, "", barrier},
    {"recursive_doubling", Collective::reduce, any_problem, two_places, levels, kHalves, reduce},
    {"recursive_doubling", Collective::gather, any_problem, place_per_rank, levels, "", gather},
    {"recursive_doubling", Collective::scatter, any_problem, place_per_rank, levels, "", scatter},
}};

}  // namespace hcomm
