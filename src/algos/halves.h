// The ranks are halved, and each half again, down to single ranks: ceil(log2 n) splits for any number of ranks. The lower half
// has as many ranks as the upper one, or one more. The i-th rank of one half and the i-th of the other are partners. When the
// lower half has one more, its last rank is the extra one: it shares a partner with the rank before it.
//
//     0 1 2 3 4          the lower half 0 1 2, the upper half 3 4; 2 is extra and listens to 4
//     0 1 2 | 3 4
//     0 1 | 2 | 3 | 4    and so on
#pragma once

#include <vector>

#include "schedule/builder.h"

namespace hcomm {

struct Range {  // of ranks, or of blocks
  int first = 0;
  int count = 0;

  int end() const { return first + count; }
  bool contains(int each) const { return first <= each && each < end(); }
};

struct Split {
  Range mine;  // the half that the rank in question is in
  Range other;

  bool is_lower() const { return mine.first < other.first; }
  Range whole() const { return {is_lower() ? mine.first : other.first, mine.count + other.count}; }
};

// What is added as (lower half) + (upper half), from neighbours to all ranks, and rounded once.
inline constexpr std::string_view kHalves = "halves";

// The splits that a rank meets, from all ranks down to itself.
std::vector<Split> splits_of(int rank, int ranks);

int levels_of(int ranks);  // how many splits there are, at most

int partner_of(int rank, const Split& split);

// To the ranks of the other half whose partner this one is: one, two, or none (of the extra rank).
void send_to_partnered(ProgramBuilder& self, const Slice& source, const Split& split);

// As an operand: elements are a rank's own contribution and still to be prepared, partial results are not.
Slice operand(const Slice& slice);

// Where each rank has a block of its own. Reduce-scatter goes down: the ranks of a range hold partial sums of that range's
// blocks, and each gives its partner what it has of the other half's blocks. The extra rank gives, but gets nothing; its
// partner adds up three sums, in rank order. Allgather goes up again.
inline constexpr std::string_view kFarHalves = "far halves first";
void reduce_scatter_by_halves(ProgramBuilder& self);
void allgather_by_halves(ProgramBuilder& self);
Shape shape_of_reduce_scatter_by_halves(const Problem& problem);

}  // namespace hcomm
