// Halve the ranks, let each half agree, then let the halves tell each other: ceil(log2 n) rounds for any number of ranks.
//
// The lower half of a range of ranks has as many ranks as the upper one, or one more. The i-th rank of one half and the i-th
// of the other are partners. When the lower half has one more, its last rank is the extra one: it shares a
// partner with the rank before it.
//
//     0 1 2 3 4          the lower half 0 1 2, the upper half 3 4; 2 is extra and listens to 4
//     0 1 2 | 3 4
//     0 1 | 2 | 3 | 4    and so on
//
// Going up (allreduce, allgather, barrier), both halves have what belongs to them, and each rank gets the other half's from
// its partner; so in a round every rank receives once, and one rank may send twice. An allreduce adds
// (lower half) + (upper half), everywhere the same tree, in the format of partial results, and rounds once at the end.
//
// Going down (reduce-scatter, broadcast), a rank sheds what the other half is responsible for. In a reduce-scatter the
// ranks of a range hold partial sums of that range's blocks; each gives its partner what it has of the other half's blocks.
// The extra rank gives, but gets nothing; its partner adds up three sums, in rank order.
#include <algorithm>
#include <bit>
#include <ranges>

#include "algos/entries.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

struct Range {  // of ranks, or of the blocks they are responsible for
  int first = 0;
  int count = 0;
};

struct Split {
  Range mine;  // the half that the rank in question is in
  Range other;
};

// The splits that a rank meets, from all ranks down to itself.
std::vector<Split> splits_of(int rank, int ranks) {
  std::vector<Split> splits;
  Range whole{0, ranks};
  while (whole.count > 1) {
    const int half = (whole.count + 1) / 2;
    const Range lower{whole.first, half};
    const Range upper{whole.first + half, whole.count - half};
    const bool is_lower = rank < upper.first;
    splits.push_back(is_lower ? Split{lower, upper} : Split{upper, lower});
    whole = splits.back().mine;
  }
  return splits;
}

bool is_extra(int rank, const Split& split) { return rank - split.mine.first >= split.other.count; }

int partner_of(int rank, const Split& split) {
  return split.other.first + std::min(rank - split.mine.first, split.other.count - 1);
}

// The ranks of the other half whose partner this one is: one, two, or none (of the extra rank).
Range partnered_with(int rank, const Split& split) {
  if (is_extra(rank, split)) return {};
  const bool has_extra = split.other.count > split.mine.count && rank == split.mine.first + split.mine.count - 1;
  return {partner_of(rank, split), has_extra ? 2 : 1};
}

void send_to_partnered(ProgramBuilder& self, const Slice& source, const Split& split) {
  const Range peers = partnered_with(self.rank(), split);
  for (int peer = peers.first; peer < peers.first + peers.count; ++peer) self.send(source, peer);
}

// A half of one rank has its raw contribution to tell, any other a partial sum. Sums alternate between two places, so that
// the last one may still be on its way while the next is written; what arrives lands in the third.
void allreduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Split> splits = splits_of(self.rank(), self.ranks());
  const auto operand = [](const Slice& slice) { return slice.format == Format::partial ? slice : prepared(slice); };
  Slice held = self.input(0);
  int place = 0;
  for (auto split = splits.rbegin(); split != splits.rend(); ++split) {
    const Slice landing = split->other.count == 1 ? self.scratch(2, 0) : partial(self.scratch(2, 0));
    send_to_partnered(self, held, *split);
    self.recv(landing, partner_of(self.rank(), *split));
    const bool is_lower = split->mine.first < split->other.first;
    const Slice sum = split + 1 == splits.rend() ? finished(self.output(0)) : partial(self.scratch(place, 0));
    self.combine({operand(is_lower ? held : landing), operand(is_lower ? landing : held)}, {sum});
    held = sum;
    place = 1 - place;
  }
}

// One rank of a range has the message; at each split it gives it to one rank of the half that has none.
void broadcast(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const bool is_root = self.rank() == self.root();
  int holder = self.root();
  for (const Split& split : splits_of(self.rank(), self.ranks())) {
    const bool is_here = split.mine.first <= holder && holder < split.mine.first + split.mine.count;
    if (is_here) {
      if (self.rank() == holder) self.send(is_root ? self.input(0) : self.output(0), partner_of(holder, split));
    } else {
      const int giver = holder;
      holder = partner_of(giver, {.mine = split.other, .other = split.mine});
      if (self.rank() == holder) self.recv(self.output(0), giver);
    }
  }
  if (is_root) self.copy(self.input(0), self.output(0));
}

// Whether a rank of a reduce-scatter has received nothing in the first `depth` splits, and so holds its raw contribution.
bool is_raw(int rank, int ranks, std::size_t depth) {
  const std::vector<Split> splits = splits_of(rank, ranks);
  return std::ranges::all_of(splits | std::views::take(depth), [&](const Split& split) { return is_extra(rank, split); });
}

int units_per_area(int ranks) { return (ranks + 1) / 2; }

// Scratch has three areas, each for half of the blocks: the partial sums, and two for what arrives.
void reduce_scatter(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  const int area = units_per_area(self.ranks());
  const std::vector<Split> splits = splits_of(rank, self.ranks());
  const auto held = [&](Range blocks, std::size_t depth) {
    if (is_raw(rank, self.ranks(), depth)) return self.input(blocks.first, blocks.count);
    return partial(self.scratch(blocks.first - splits.front().mine.first, blocks.first, blocks.count));
  };
  const auto operand = [](const Slice& slice) { return slice.format == Format::partial ? slice : prepared(slice); };

  for (std::size_t depth = 0; depth < splits.size(); ++depth) {
    const Split& split = splits[depth];
    self.send(held(split.other, depth), partner_of(rank, split));
    const Range peers = partnered_with(rank, split);
    if (peers.count == 0) continue;

    std::vector<Slice> operands;
    for (int i = 0; i < peers.count; ++i) {
      const Slice landing = self.scratch((1 + i) * area, split.mine.first, split.mine.count);
      operands.push_back(is_raw(peers.first + i, self.ranks(), depth) ? landing : partial(landing));
      self.recv(operands.back(), peers.first + i);
    }
    const bool is_lower = split.mine.first < split.other.first;
    operands.insert(is_lower ? operands.begin() : operands.end(), held(split.mine, depth));
    std::ranges::transform(operands, operands.begin(), operand);
    const bool last = depth + 1 == splits.size();
    self.combine(operands, std::array{last ? finished(self.output(rank)) : held(split.mine, depth + 1)});
  }
}

void allgather(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Split> splits = splits_of(self.rank(), self.ranks());
  self.copy(self.input(self.rank()), self.output(self.rank()));
  for (const Split& split : splits | std::views::reverse) {
    send_to_partnered(self, self.output(split.mine.first, split.mine.count), split);
    self.recv(self.output(split.other.first, split.other.count), partner_of(self.rank(), split));
  }
}

void barrier(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Split> splits = splits_of(self.rank(), self.ranks());
  for (const Split& split : splits | std::views::reverse) {
    send_to_partnered(self, self.nothing(), split);
    self.recv(self.nothing(), partner_of(self.rank(), split));
  }
}

Shape three_places(const Problem& problem) { return {.blocks = 1, .scratch_units = problem.ranks > 1 ? 3 : 0}; }

Shape three_areas(const Problem& problem) {
  return {.blocks = problem.ranks, .scratch_units = problem.ranks > 1 ? 3 * units_per_area(problem.ranks) : 0};
}

Shape block_per_rank(const Problem& problem) { return {.blocks = problem.ranks}; }

Shape whole_message(const Problem&) { return {}; }

int levels(const Problem& problem) { return std::bit_width(static_cast<unsigned>(problem.ranks - 1)); }

}  // namespace

const Family kRecursiveDoubling = {{
    {"recursive_doubling", Collective::allreduce, any_problem, three_places, levels, "halves", allreduce},
    {"recursive_doubling", Collective::broadcast, any_problem, whole_message, levels, "", broadcast},
    {"recursive_doubling", Collective::reduce_scatter, any_problem, three_areas, levels, "halves", reduce_scatter},
    {"recursive_doubling", Collective::allgather, any_problem, block_per_rank, levels, "", allgather},
    {"recursive_doubling", Collective::barrier, any_problem, whole_message, levels, "", barrier},
}};

}  // namespace hcomm
