// What the table says about its entries is true.
#include "algos/entries.h"

#include <set>

#include <catch2/catch.hpp>

#include "algos/halves.h"
#include "algos/parts.h"
#include "depth.h"
#include "schedule/binding.h"

namespace hcomm {
namespace {

Problem problem_of(const Algorithm& algorithm, int ranks, int slots = 2) {
  return {.collective = algorithm.collective, .ranks = ranks, .slots = slots};
}

}  // namespace

TEST_CASE("every entry is found by its name and collective") {
  std::set<std::pair<std::string_view, Collective>> seen;
  for (const Algorithm* algorithm : algorithms()) {
    CHECK(find_algorithm(algorithm->name, algorithm->collective) == algorithm);
    seen.emplace(algorithm->name, algorithm->collective);
  }
  CHECK(seen.size() == algorithms().size());
  for (const Collective collective : kCollectives) {
    CHECK(find_algorithm("flat", collective) != nullptr);
    CHECK(find_algorithm("direct", collective) != nullptr);
    const bool has_rings = collective == Collective::reduce_scatter || collective == Collective::allgather;
    const bool moves_parts = is_strided(collective) && !has_rings;
    CHECK((find_algorithm("pairwise", collective) != nullptr) == moves_parts);
    CHECK((find_algorithm("ring", collective) != nullptr) == !moves_parts);
    CHECK((find_algorithm("recursive_doubling", collective) != nullptr) == (collective != Collective::alltoall));
  }
  CHECK(find_algorithm("rign", Collective::allreduce) == nullptr);
  CHECK(find_algorithm("", Collective::allreduce) == nullptr);
}

TEST_CASE("entries have their family's name, and are all in the table") {
  std::size_t entries = 0;
  const auto check = [&](std::string_view family, std::span<const Algorithm> list) {
    entries += list.size();
    for (const Algorithm& each : list) CHECK(each.name == family);
  };
  check("flat", kFlat);
  check("direct", kDirect);
  check("recursive_doubling", kRecursiveDoubling);
  check("halving_doubling", kHalvingDoubling);
  check("tree", kTree);
  check("pairwise", kPairwise);
  check("ring", kRing);
  CHECK(entries == algorithms().size());
}

TEST_CASE("the tree is for what has one message: allreduce, broadcast, reduce") {
  for (const Collective collective : kCollectives) {
    const bool one_message = !is_strided(collective) && collective != Collective::barrier;
    CHECK((find_algorithm("tree", collective) != nullptr) == one_message);
  }
}

TEST_CASE("a rank alone needs no window, no scratch and no peer") {
  for (const Algorithm* algorithm : algorithms()) {
    const Problem problem = problem_of(*algorithm, 1);
    INFO(algorithm->name << " " << name(algorithm->collective));
    CHECK(algorithm->shape(problem) == Shape{});
    const Program program = write_program(*algorithm, problem, 0);
    CHECK(program.ops.size() == (algorithm->collective == Collective::barrier ? 0 : 1));
  }
}

TEST_CASE("rounds are what the last rank waits for in a row") {
  for (const Algorithm* algorithm : algorithms()) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
      for (int root = 0; root < (has_root(algorithm->collective) ? ranks : 1); ++root) {
        Problem problem = problem_of(*algorithm, ranks);
        problem.root = root;
        INFO(algorithm->name << " " << name(algorithm->collective) << " ranks=" << ranks << " root=" << root);
        const int depth = depth_of(write_schedule(*algorithm, problem));
        // Where halves are uneven a rank may hear from two others at once, and a level costs no round. In a double tree the
        // blocks follow each other, as far as the other tree lets them.
        const bool adds_in_tree = algorithm->name == "tree" && reduces(algorithm->collective);
        const int half_of_blocks = algorithm->shape(problem).blocks / 2;
        const int saved = algorithm->name == "recursive_doubling" ? 1
                          : algorithm->name == "halving_doubling" ? 3
                          : adds_in_tree                          ? half_of_blocks
                                                                  : 0;
        CHECK(depth <= algorithm->rounds(problem));
        CHECK(depth >= algorithm->rounds(problem) - saved);
      }
    }
  }
}

TEST_CASE("a program that uses no window does not depend on the slots") {
  for (const Algorithm* algorithm : algorithms()) {
    const Problem one = problem_of(*algorithm, 6, 1);
    if (uses_window(algorithm->shape(one))) continue;
    for (int slots = 2; slots <= kMaxSlots; ++slots) {
      CHECK(algorithm->shape(one) == algorithm->shape(problem_of(*algorithm, 6, slots)));
      for (int rank = 0; rank < 6; ++rank) {
        CHECK(write_program(*algorithm, one, rank) == write_program(*algorithm, problem_of(*algorithm, 6, slots), rank));
      }
    }
  }
}

TEST_CASE("the window is used by flat and direct alone, and what is exposed by direct alone") {
  for (const Algorithm* algorithm : algorithms()) {
    const bool in_window = algorithm->name == "flat" || algorithm->name == "direct";
    CHECK(uses_window(algorithm->shape(problem_of(*algorithm, 2))) == in_window);
    for (const Program& program : write_schedule(*algorithm, problem_of(*algorithm, 5)).programs) {
      for (const Slice& slice : program.slices) {
        if (slice.buffer == Buffer::exposed) CHECK(algorithm->name == "direct");
      }
    }
  }
}

TEST_CASE("what goes between owners alone takes nothing from others but blocks for itself, by messages") {
  for (const Algorithm* algorithm : algorithms()) {
    if (!algorithm->only_between_owners) continue;
    const Problem problem = problem_of(*algorithm, 5);
    const Shape shape = algorithm->shape(problem);
    CHECK_FALSE(uses_window(shape));
    for (const Program& program : write_schedule(*algorithm, problem).programs) {
      const HeldBlocks own = held_blocks(problem, shape.blocks, Side::input, program.rank);
      const HeldBlocks wanted = held_blocks(problem, shape.blocks, Side::output, program.rank);
      for (const Op& op : program.ops) {
        if (op.kind == OpKind::send) CHECK(own.has(program.sources(op).front().first));
        if (op.kind == OpKind::recv) CHECK(wanted.has(program.targets(op).front().first));
        for (const Slice& slice : program.sources(op)) CHECK(slice.count == 1);
      }
    }
  }
}

TEST_CASE("lengths that ranks keep to themselves have an algorithm for each collective that has them") {
  for (const Collective collective : {Collective::gather, Collective::scatter, Collective::alltoall}) {
    CHECK(lengths_are_private(collective));
    CHECK(std::ranges::any_of(algorithms(), [&](const Algorithm* algorithm) {
      return algorithm->collective == collective && algorithm->only_between_owners;
    }));
  }
}

TEST_CASE("a program is linear in the ranks, up to the largest number of them") {
  for (const Algorithm* algorithm : algorithms()) {
    const Problem problem = problem_of(*algorithm, kMaxRanks);
    for (const int rank : {0, kMaxRanks - 1}) {
      INFO(algorithm->name << " " << name(algorithm->collective) << " rank=" << rank);
      const Program program = write_program(*algorithm, problem, rank);
      CHECK(program.ops.size() <= std::size_t{5} * kMaxRanks);
      CHECK(program.slices.size() <= std::size_t{8} * kMaxRanks);
      if (algorithm->name == "recursive_doubling") CHECK(program.ops.size() <= 4 * 12 + 1);
      if (algorithm->name == "halving_doubling") CHECK(program.ops.size() <= 9 * 12 + 1);
    }
  }
}

TEST_CASE("ranks are halved down to one, and each half is seen from the other as itself") {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      Range expected{0, ranks};
      const std::vector<Split> splits = splits_of(rank, ranks);
      CHECK(static_cast<int>(splits.size()) <= levels_of(ranks));
      CHECK(static_cast<int>(splits.size()) >= levels_of(ranks) - 1);
      for (const Split& split : splits) {
        CHECK(split.whole().first == expected.first);
        CHECK(split.whole().count == expected.count);
        CHECK(split.mine.contains(rank));
        CHECK(split.other.contains(partner_of(rank, split)));
        const int lower = split.is_lower() ? split.mine.count : split.other.count;
        CHECK(lower == (expected.count + 1) / 2);
        expected = split.mine;
      }
      CHECK(expected.count == 1);
    }
  }
}

TEST_CASE("a circle of ranks") {
  CHECK(wrap(0, 5) == 0);
  CHECK(wrap(-1, 5) == 4);
  CHECK(wrap(-5, 5) == 0);
  CHECK(wrap(5, 5) == 0);
  CHECK(wrap(9, 5) == 4);
}

}  // namespace hcomm
