#include "algos/halves.h"

#include <algorithm>
#include <bit>
#include <ranges>

#include "algos/parts.h"

namespace hcomm {
namespace {

bool is_extra(int rank, const Split& split) { return rank - split.mine.first >= split.other.count; }

// The ranks of the other half whose partner this one is.
Range partnered_with(int rank, const Split& split) {
  if (is_extra(rank, split)) return {};
  const bool has_extra = split.other.count > split.mine.count && rank + 1 == split.mine.end();
  return {partner_of(rank, split), has_extra ? 2 : 1};
}

// Whether a rank of a reduce-scatter has received nothing in the first `depth` splits, and so holds its raw contribution.
bool is_raw(int rank, int ranks, std::size_t depth) {
  const std::vector<Split> splits = splits_of(rank, ranks);
  return std::ranges::all_of(splits | std::views::take(depth), [&](const Split& split) { return is_extra(rank, split); });
}

int units_per_area(int ranks) { return (ranks + 1) / 2; }

}  // namespace

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

int levels_of(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

int partner_of(int rank, const Split& split) {
  return split.other.first + std::min(rank - split.mine.first, split.other.count - 1);
}

void send_to_partnered(ProgramBuilder& self, const Slice& source, const Split& split) {
  const Range peers = partnered_with(self.rank(), split);
  for (int peer = peers.first; peer < peers.end(); ++peer) self.send(source, peer);
}

Slice operand(const Slice& slice) { return slice.format == Format::partial ? slice : prepared(slice); }

Shape shape_of_reduce_scatter_by_halves(const Problem& problem) {
  return {.blocks = problem.ranks, .scratch_units = problem.ranks > 1 ? 3 * units_per_area(problem.ranks) : 0};
}

// Scratch has three areas, each for half of the blocks: the partial sums, and two for what arrives.
void reduce_scatter_by_halves(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int rank = self.rank();
  const int area = units_per_area(self.ranks());
  const std::vector<Split> splits = splits_of(rank, self.ranks());
  const auto held = [&](Range blocks, std::size_t depth) {
    if (is_raw(rank, self.ranks(), depth)) return self.input(blocks.first, blocks.count);
    return partial(self.scratch(blocks.first - splits.front().mine.first, blocks.first, blocks.count));
  };

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
    operands.insert(split.is_lower() ? operands.begin() : operands.end(), held(split.mine, depth));
    std::ranges::transform(operands, operands.begin(), operand);
    const bool last = depth + 1 == splits.size();
    self.combine(operands, std::array{last ? finished(self.output(rank)) : held(split.mine, depth + 1)});
  }
}

void allgather_by_halves(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const std::vector<Split> splits = splits_of(self.rank(), self.ranks());
  self.copy(self.input(self.rank()), self.output(self.rank()));
  for (const Split& split : splits | std::views::reverse) {
    send_to_partnered(self, self.output(split.mine.first, split.mine.count), split);
    self.recv(self.output(split.other.first, split.other.count), partner_of(self.rank(), split));
  }
}

}  // namespace hcomm
