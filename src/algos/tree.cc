// Two binary trees over all ranks, each for half of the message, over channels.
//
// In one binary tree the leaves, half of the ranks, send nothing on: their links idle. So a second tree carries the other half
// of the message, in which the leaves of the first are inner nodes: no rank is an inner node of both, and none receives or sends
// more than the message in each direction (P. Sanders, J. Speck, J. L. Traeff: Two-tree algorithms for full bandwidth broadcast,
// reduction and scan. Parallel Computing 35, 2009).
//
//     first tree      3         second tree of 6 ranks: its mirror image    2
//                   1   5                                                  0 4      inner nodes of the first: odd ranks
//                  0 2 4                                                    1 3 5   ... of the second: even ranks
//
// A range of positions has its root at the largest power of two that fits; on its left a complete tree, on its right what is
// left, again as a tree. That puts a node between its subtrees, and inner nodes at odd positions. The mirror image of an even
// number of ranks has its inner nodes at even ones. With an odd number, rank 0 is the second tree's root, and below it are
// the others as in the first tree.
//
// A node adds (left + own + right) in rank order, in the format of partial results; the root rounds once. So an element's
// expression depends on its tree alone, and a reduce, in which the roots of both trees pass their result on to the rank that
// wants it, has the bits of the allreduce. A broadcast builds its trees from the other ranks alone, as the paper does, and the
// rank that has the message feeds both roots.
//
// Each half is cut into blocks that follow each other. All ranks keep the same rounds: in an allreduce block k goes up from
// depth d in round k + height - d, and down to depth d in round k + height + d - 1. Both ends of a channel write its messages in
// the order of (round, tree), so they match even where two ranks are neighbours in both trees.
#include <algorithm>
#include <bit>

#include "algos/entries.h"
#include "algos/halves.h"
#include "algos/parts.h"

namespace hcomm {
namespace {

constexpr int kBlocksOfTree = 8;  // with 4 MB chunks and units of 256 KiB, two trees of eight blocks fill a chunk
constexpr int kNobody = -1;

struct Node {  // neighbours by position; kNobody where there is none
  int parent = kNobody;
  int left = kNobody;
  int right = kNobody;
  int depth = 0;

  bool is_leaf() const { return left == kNobody && right == kNobody; }
};

int root_of(int first, int count) {
  return first + static_cast<int>(std::bit_floor(static_cast<unsigned>(count))) - 1;
}

// Position `wanted` in the first tree over [0, count).
Node node_of(int wanted, int count) {
  Node node;
  for (int first = 0, end = count;;) {
    const int root = root_of(first, end - first);
    if (wanted == root) {
      if (first < root) node.left = root_of(first, root - first);
      if (root + 1 < end) node.right = root_of(root + 1, end - root - 1);
      return node;
    }
    node.parent = root;
    ++node.depth;
    if (wanted < root) {
      end = root;
    } else {
      first = root + 1;
    }
  }
}

// Position `wanted` in the second tree over [0, count).
Node second_node_of(int wanted, int count) {
  const auto moved = [](Node node, auto&& where) {
    for (int* const each : {&node.parent, &node.left, &node.right}) {
      if (*each != kNobody) *each = where(*each);
    }
    return node;
  };
  if (count == 1) return {};
  if (count % 2 == 0) {
    Node mirrored = node_of(count - 1 - wanted, count);
    std::swap(mirrored.left, mirrored.right);
    return moved(mirrored, [&](int position) { return count - 1 - position; });
  }
  if (wanted == 0) return {.right = 1 + root_of(0, count - 1)};
  Node below = moved(node_of(wanted - 1, count - 1), [](int position) { return position + 1; });
  ++below.depth;
  if (below.parent == kNobody) below.parent = 0;
  return below;
}

// The depth of the deepest node of a tree over so many positions.
int height_of(int tree, int count) {
  const auto height = [](int of) { return static_cast<int>(std::bit_width(static_cast<unsigned>(of))) - 1; };
  return tree == 1 && count % 2 == 1 && count > 1 ? 1 + height(count - 1) : height(count);
}

// What a rank does in one tree, in rounds. Its blocks of the message are [first_block, first_block + blocks).
struct Seat {
  int tree = 0;
  int parent = kNobody;  // all by rank
  int left = kNobody;
  int right = kNobody;
  int depth = 0;
  int height = 0;  // of the tree
  bool left_is_leaf = false;
  bool right_is_leaf = false;

  bool is_leaf() const { return left == kNobody && right == kNobody; }
};

Seat seat_of(int tree, int position, int count) {
  const auto node = [&](int wanted) { return tree == 0 ? node_of(wanted, count) : second_node_of(wanted, count); };
  const auto leaf = [&](int child) { return child != kNobody && node(child).is_leaf(); };
  const Node own = node(position);
  return {.tree = tree,
          .parent = own.parent,
          .left = own.left,
          .right = own.right,
          .depth = own.depth,
          .height = height_of(tree, count),
          .left_is_leaf = leaf(own.left),
          .right_is_leaf = leaf(own.right)};
}

// The block that is `late` rounds behind the first one's start, if there is one in this round.
template <class Act>  // Act: (block of the message)
void with_block(const ProgramBuilder& self, const Seat& seat, int round, int late, Act&& act) {
  const int blocks = self.shape().blocks / 2;
  const int which = round - late;
  if (0 <= which && which < blocks) act(seat.tree * blocks + which);
}

// Scratch: two places for each child's block and two for sums, so that a block arrives while the one before is added up or
// sent.
constexpr int kPlaces = 6;

Slice left_landing(const ProgramBuilder& self, const Seat& seat, int block) {
  const Slice slice = self.scratch(block % 2, block);
  return seat.left_is_leaf ? slice : partial(slice);
}
Slice right_landing(const ProgramBuilder& self, const Seat& seat, int block) {
  const Slice slice = self.scratch(2 + block % 2, block);
  return seat.right_is_leaf ? slice : partial(slice);
}

// What a node gives to its parent: its raw contribution, or the sum of its subtree.
Slice upward(const ProgramBuilder& self, const Seat& seat, int block) {
  return seat.is_leaf() ? self.input(block) : partial(self.scratch(4 + block % 2, block));
}

void add_up(ProgramBuilder& self, const Seat& seat, int block, const Slice& sum) {
  std::vector<Slice> sources;
  if (seat.left != kNobody) sources.push_back(operand(left_landing(self, seat, block)));
  sources.push_back(prepared(self.input(block)));
  if (seat.right != kNobody) sources.push_back(operand(right_landing(self, seat, block)));
  self.combine(sources, std::array{sum});
}

void receive_from_children(ProgramBuilder& self, const Seat& seat, int round) {
  with_block(self, seat, round, seat.height - seat.depth - 1, [&](int block) {
    if (seat.left != kNobody) self.recv(left_landing(self, seat, block), seat.left);
    if (seat.right != kNobody) self.recv(right_landing(self, seat, block), seat.right);
  });
}

// The way up. What the root of the tree finds is complete, and goes to `result`.
template <class Result>  // Result: (block) -> Slice
void pass_up(ProgramBuilder& self, const Seat& seat, int round, Result&& result) {
  with_block(self, seat, round, seat.height - seat.depth, [&](int block) {
    const bool is_root = seat.parent == kNobody;
    if (is_root || !seat.is_leaf()) add_up(self, seat, block, is_root ? finished(result(block)) : upward(self, seat, block));
    if (!is_root) self.send(upward(self, seat, block), seat.parent);
  });
}

void pass_down(ProgramBuilder& self, const Seat& seat, int round, int late) {
  with_block(self, seat, round, late, [&](int block) {
    if (seat.left != kNobody) self.send(self.output(block), seat.left);
    if (seat.right != kNobody) self.send(self.output(block), seat.right);
  });
}

int rounds_up_and_down(int count, int blocks) { return blocks + 2 * std::max(height_of(0, count), height_of(1, count)); }

void allreduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int ranks = self.ranks();
  const std::array seats = {seat_of(0, self.rank(), ranks), seat_of(1, self.rank(), ranks)};
  const int rounds = rounds_up_and_down(ranks, self.shape().blocks / 2);
  for (int round = 0; round < rounds; ++round) {
    for (const Seat& seat : seats) {
      receive_from_children(self, seat, round);
      if (seat.parent == kNobody) continue;
      with_block(self, seat, round, seat.height + seat.depth - 1,
                 [&](int block) { self.recv(self.output(block), seat.parent); });
    }
    for (const Seat& seat : seats) {
      pass_up(self, seat, round, [&](int block) { return self.output(block); });
      pass_down(self, seat, round, seat.height + seat.depth);
    }
  }
}

void reduce(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int ranks = self.ranks();
  const bool wants = self.rank() == self.root();
  const std::array seats = {seat_of(0, self.rank(), ranks), seat_of(1, self.rank(), ranks)};
  const std::array tops = {root_of(0, ranks), ranks % 2 == 0 ? ranks - 1 - root_of(0, ranks) : 0};
  const int rounds = rounds_up_and_down(ranks, self.shape().blocks / 2);
  const auto result = [&](int block) { return wants ? self.output(block) : self.scratch(4 + block % 2, block); };
  for (int round = 0; round < rounds; ++round) {
    for (const Seat& seat : seats) {
      receive_from_children(self, seat, round);
      const int top = tops[static_cast<std::size_t>(seat.tree)];
      if (!wants || seat.parent == kNobody) continue;
      with_block(self, seat, round, seat.height, [&](int block) { self.recv(self.output(block), top); });
    }
    for (const Seat& seat : seats) {
      pass_up(self, seat, round, result);
      if (wants || seat.parent != kNobody) continue;
      with_block(self, seat, round, seat.height, [&](int block) { self.send(result(block), self.root()); });
    }
  }
}

// Trees over the other ranks, in which position 0 is the one at the root's right. In round k the rank that has the message feeds
// block k to both; it arrives at depth d in round k + d.
void broadcast(ProgramBuilder& self) {
  if (written_alone(self)) return;
  const int others = self.ranks() - 1;
  const int blocks = self.shape().blocks / 2;
  const auto rank_at = [&](int position) { return wrap(self.root() + 1 + position, self.ranks()); };
  if (self.rank() == self.root()) {
    const std::array tops = {root_of(0, others), others % 2 == 0 ? others - 1 - root_of(0, others) : 0};
    for (int block = 0; block < blocks; ++block) {
      self.send(self.input(block), rank_at(tops[0]));
      self.send(self.input(blocks + block), rank_at(tops[1]));
    }
    self.copy(self.input(0, 2 * blocks), self.output(0, 2 * blocks));
    return;
  }
  const int position = wrap(self.rank() - self.root() - 1, self.ranks());
  std::array seats = {seat_of(0, position, others), seat_of(1, position, others)};
  for (Seat& seat : seats) {
    seat.parent = seat.parent == kNobody ? self.root() : rank_at(seat.parent);
    for (int* const child : {&seat.left, &seat.right}) *child = *child == kNobody ? kNobody : rank_at(*child);
  }
  for (int round = 0; round < rounds_up_and_down(others, blocks) + 1; ++round) {
    for (const Seat& seat : seats) {
      with_block(self, seat, round, seat.depth, [&](int block) { self.recv(self.output(block), seat.parent); });
    }
    for (const Seat& seat : seats) pass_down(self, seat, round, seat.depth + 1);
  }
}

Shape halves_in_blocks(const Problem& problem) { return {.blocks = problem.ranks > 1 ? 2 * kBlocksOfTree : 1}; }

Shape halves_in_places(const Problem& problem) {
  return {.blocks = problem.ranks > 1 ? 2 * kBlocksOfTree : 1, .scratch_units = problem.ranks > 1 ? kPlaces : 0};
}

int height_of_higher(int count) { return std::max(height_of(0, count), height_of(1, count)); }

int up_and_down(const Problem& problem) {
  return problem.ranks > 1 ? 2 * height_of_higher(problem.ranks) + kBlocksOfTree - 1 : 0;
}
int up_and_over(const Problem& problem) { return problem.ranks > 1 ? height_of_higher(problem.ranks) + kBlocksOfTree : 0; }
int down(const Problem& problem) { return problem.ranks > 1 ? height_of_higher(problem.ranks - 1) + 1 : 0; }

// A chunk is through when its last block has gone up and come down again.
double way_of_one_block(const Problem& problem) {
  return problem.ranks > 1 ? 2.0 * height_of_higher(problem.ranks) / kBlocksOfTree : 0;
}

}  // namespace

const Family<3> kTree = {{
    {"tree", Collective::allreduce, any_problem, halves_in_places, up_and_down, "double tree", allreduce,
     way_of_one_block},
    {"tree", Collective::broadcast, any_problem, halves_in_blocks, down, "", broadcast},
    {"tree", Collective::reduce, any_problem, halves_in_places, up_and_over, "double tree", reduce},
}};

}  // namespace hcomm
