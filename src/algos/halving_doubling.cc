// Halve the ranks; each half adds up its contributions, spread over its ranks; then the halves exchange parts of the sums. Each
// rank moves 2 (n - 1) / n of the message, the least that is possible, in 2 ceil(log2 n) rounds, for any number of ranks.
//
// What a range of ranks has is a line of blocks, cut evenly among its ranks; each rank holds one part. The halves of a
// range both have the whole line, in larger parts. When they meet, their ranks take turns on the line, lower, upper, lower,
// upper, and each keeps the part of its new place. That part is inside of its old one, also when the lower half has a rank more:
//
//     lower half, 3 ranks    |    0    |    1    |    2    |
//     upper half, 2 ranks    |      3       |      4       |
//     together               |  0  |  3  |  1  |  4  |  2  |
//
// So a rank gives the rest of its old part to one or two ranks of the other half, gets from them what it misses of its new one,
// and nobody is idle, proxied or left over. With a power of two it is Rabenseifner's algorithm (R. Thakur, R. Rabenseifner,
// W. Gropp: Optimization of collective communication operations in MPICH, 2005); the line of uneven halves is ours. Neighbours
// meet first and exchange the most; the farther the ranks, the shorter the messages.
//
// An allreduce does that and then goes back: at each split, from the whole range down, ranks give back complete blocks for
// those that they were given. Adding is (lower half) + (upper half) at each split, in the format of partial results, rounded
// once: the tree and the bits of recursive_doubling's allreduce. In a reduce the way back leads to the root alone, and in a
// broadcast the way there starts at the root alone: at each split, the half with the root gathers, or scatters.
//
// Reduce-scatter and allgather have one block for each rank, which cannot be dealt out anew. They halve from far to near,
// so that parts are runs of blocks: recursive_doubling's programs, under this name, too.
#include <algorithm>
#include <bit>
#include <ranges>

#include "algos/entries.h"
#include "algos/halves.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

// The place of a rank on the line of a range; ranks of the halves take turns.
int place_of(int rank, Range range) {
  int place = 0;
  int step = 1;
  while (range.count > 1) {
    const int lower = (range.count + 1) / 2;
    const bool is_lower = rank < range.first + lower;
    place += is_lower ? 0 : step;
    range = is_lower ? Range{range.first, lower} : Range{range.first + lower, range.count - lower};
    step *= 2;
  }
  return place;
}

int rank_at(int place, Range range) {
  while (range.count > 1) {
    const int lower = (range.count + 1) / 2;
    range = place % 2 == 0 ? Range{range.first, lower} : Range{range.first + lower, range.count - lower};
    place /= 2;
  }
  return range.first;
}

Range common(const Range& a, const Range& b) {
  const int first = std::max(a.first, b.first);
  return {first, std::max(0, std::min(a.end(), b.end()) - first)};
}

// What a rank and one of the other half have for each other when their halves meet.
struct Exchange {
  int peer = 0;
  Range give;  // of the rank's old part, what will be the peer's
  Range get;   // of the rank's new part, what was the peer's
};

struct Meeting {
  Split split;
  Range part;  // the rank's, afterwards
  std::vector<Exchange> exchanges;

  bool has(int rank) const { return split.whole().contains(rank); }
};

// From all ranks down to two or three.
std::vector<Meeting> meetings_of(const ProgramBuilder& self) {
  const auto part_at = [&](int place, int places) {
    const int first = self.shape().blocks * place / places;
    return Range{first, self.shape().blocks * (place + 1) / places - first};
  };
  const auto part_of = [&](int rank, const Range& range) { return part_at(place_of(rank, range), range.count); };
  std::vector<Meeting> meetings;
  for (const Split& split : splits_of(self.rank(), self.ranks())) {
    Meeting& meeting = meetings.emplace_back(split, part_of(self.rank(), split.whole()));
    const Range before = part_of(self.rank(), split.mine);
    const int place = place_of(self.rank(), split.mine);
    for (int other = std::max(place - 1, 0); other < std::min(place + 2, split.other.count); ++other) {
      const int peer = rank_at(other, split.other);
      const Exchange exchange{.peer = peer,
                              .give = common(before, part_of(peer, split.whole())),
                              .get = common(meeting.part, part_at(other, split.other.count))};
      if (exchange.give.count + exchange.get.count > 0) meeting.exchanges.push_back(exchange);
    }
  }
  return meetings;
}

// Scratch has areas that each hold the largest part there is: sums, what arrives, and complete blocks on their way to the root.
int area_of(int blocks) { return (blocks + 1) / 2; }

class Parts {
 public:
  explicit Parts(const ProgramBuilder& self, const std::vector<Meeting>& meetings)
      : self_(self), first_(meetings.back().part.first), area_(area_of(self.shape().blocks)) {}

  Slice sums(const Range& blocks) const { return partial(in_area(0, blocks)); }
  Slice landing(const Range& blocks) const { return in_area(1, blocks); }
  Slice complete(const Range& blocks) const { return in_area(2, blocks); }

 private:
  Slice in_area(int which, const Range& blocks) const {
    return self_.scratch(which * area_ + blocks.first - first_, blocks.first, blocks.count);
  }

  const ProgramBuilder& self_;
  const int first_;  // block of the largest part, which all others are in
  const int area_;
};

// The way there. `result` is where the complete part goes.
template <class Result>  // Result: (blocks) -> Slice
void add_up(ProgramBuilder& self, const std::vector<Meeting>& meetings, Result&& result) {
  const Parts parts(self, meetings);
  bool is_raw = true;
  const auto held = [&](const Range& blocks) {
    return is_raw ? self.input(blocks.first, blocks.count) : parts.sums(blocks);
  };
  for (const Meeting& meeting : meetings | std::views::reverse) {
    const auto landing = [&](const Range& blocks) {
      return meeting.split.other.count == 1 ? parts.landing(blocks) : partial(parts.landing(blocks));
    };
    for (const Exchange& each : meeting.exchanges) {
      if (each.give.count > 0) self.send(held(each.give), each.peer);
    }
    for (const Exchange& each : meeting.exchanges) {
      if (each.get.count > 0) self.recv(landing(each.get), each.peer);
    }
    const Slice own = operand(held(meeting.part));
    const Slice theirs = operand(landing(meeting.part));
    const bool is_last = meeting.split.whole().count == self.ranks();
    const Slice sum = is_last ? finished(result(meeting.part)) : parts.sums(meeting.part);
    const bool is_lower = meeting.split.is_lower();
    self.combine({is_lower ? own : theirs, is_lower ? theirs : own}, {sum});
    is_raw = false;
  }
}

// One split on the way back: blocks that were given away return.
template <class Result>
void give_back(ProgramBuilder& self, const Meeting& meeting, Result&& result, bool gives, bool gets) {
  for (const Exchange& each : meeting.exchanges) {
    if (gives && each.get.count > 0) self.send(result(each.get), each.peer);
  }
  for (const Exchange& each : meeting.exchanges) {
    if (gets && each.give.count > 0) self.recv(result(each.give), each.peer);
  }
}

void allreduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Meeting> meetings = meetings_of(self);
  const auto result = [&](const Range& blocks) { return self.output(blocks.first, blocks.count); };
  add_up(self, meetings, result);
  for (const Meeting& meeting : meetings) give_back(self, meeting, result, true, true);
}

void reduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Meeting> meetings = meetings_of(self);
  const Parts parts(self, meetings);
  const auto result = [&](const Range& blocks) {
    return self.rank() == self.root() ? self.output(blocks.first, blocks.count) : parts.complete(blocks);
  };
  add_up(self, meetings, result);
  for (const Meeting& meeting : meetings) {
    if (!meeting.has(self.root())) break;
    const bool gets = meeting.split.mine.contains(self.root());
    give_back(self, meeting, result, !gets, gets);
  }
}

// The half with the root keeps what it gave to the other, so on the way back only the other gets anything.
void broadcast(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const bool is_root = self.rank() == self.root();
  const std::vector<Meeting> meetings = meetings_of(self);
  const auto held = [&](const Range& blocks) {
    return is_root ? self.input(blocks.first, blocks.count) : self.output(blocks.first, blocks.count);
  };
  for (const Meeting& meeting : meetings | std::views::reverse) {
    if (!meeting.has(self.root())) continue;
    const bool gives = meeting.split.mine.contains(self.root());
    for (const Exchange& each : meeting.exchanges) {
      if (gives && each.give.count > 0) self.send(held(each.give), each.peer);
      if (!gives && each.get.count > 0) self.recv(held(each.get), each.peer);
    }
  }
  for (const Meeting& meeting : meetings) {
    give_back(self, meeting, held, !meeting.split.other.contains(self.root()), !meeting.split.mine.contains(self.root()));
  }
  if (is_root) self.copy(self.input(0, self.shape().blocks), self.output(0, self.shape().blocks));
}

// Powers of two cut the line without a rest; for other numbers two blocks a rank come near enough.
int blocks_for(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)) ? ranks : 2 * ranks; }

Shape with_areas(const Problem& problem, int areas) {
  const int blocks = blocks_for(problem.ranks);
  return {.blocks = blocks, .scratch_units = problem.ranks > 1 ? areas * area_of(blocks) : 0};
}

Shape line(const Problem& problem) { return with_areas(problem, 0); }
Shape two_areas(const Problem& problem) { return with_areas(problem, 2); }
Shape three_areas(const Problem& problem) { return with_areas(problem, 3); }

int there(const Problem& problem) { return levels_of(problem.ranks); }
int there_and_back(const Problem& problem) { return 2 * levels_of(problem.ranks); }

}  // namespace

const Family<5> kHalvingDoubling = {{
    {"halving_doubling", Collective::allreduce, any_problem, two_areas, there_and_back, kHalves, allreduce},
    {"halving_doubling", Collective::broadcast, any_problem, line, there_and_back, "", broadcast},
    {"halving_doubling", Collective::reduce_scatter, any_problem, shape_of_reduce_scatter_by_halves, there, kFarHalves,
     reduce_scatter_by_halves},
    {"halving_doubling", Collective::allgather, any_problem, block_per_rank, there, "", allgather_by_halves},
    {"halving_doubling", Collective::reduce, any_problem, three_areas, there_and_back, kHalves, reduce},
}};

}  // namespace hcomm
