// What the table says about its entries is true.
#include "algos/entries.h"

#include <set>

#include <catch2/catch.hpp>

#include "algos/parts.h"
#include "depth.h"

namespace hcomm {
namespace {

Problem problem_of(const Algorithm& algorithm, int ranks, int slots = 2) {
  return {.collective = algorithm.collective, .ranks = ranks, .slots = slots};
}

}  // namespace

TEST_CASE("four families, each with an entry for every collective") {
  std::set<std::pair<std::string_view, Collective>> seen;
  for (const Algorithm* algorithm : algorithms()) {
    CHECK(find_algorithm(algorithm->name, algorithm->collective) == algorithm);
    seen.emplace(algorithm->name, algorithm->collective);
  }
  CHECK(seen.size() == algorithms().size());
  for (const std::string_view family : {"flat", "direct", "recursive_doubling", "ring"}) {
    for (const Collective collective : kCollectives) CHECK(find_algorithm(family, collective) != nullptr);
  }
  CHECK(find_algorithm("rign", Collective::allreduce) == nullptr);
  CHECK(find_algorithm("", Collective::allreduce) == nullptr);
}

TEST_CASE("a family lists its entries in the order of the collectives") {
  for (const Family* family : {&kFlat, &kDirect, &kRing, &kRecursiveDoubling}) {
    for (std::size_t i = 0; i < family->size(); ++i) CHECK((*family)[i].collective == kCollectives[i]);
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
        // Where halves are uneven a rank may hear from two others at once, and a level costs no round.
        const int levels_saved = algorithm->name == "recursive_doubling" ? 1 : 0;
        CHECK(depth <= algorithm->rounds(problem));
        CHECK(depth >= algorithm->rounds(problem) - levels_saved);
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

TEST_CASE("a program is linear in the ranks, up to the largest number of them") {
  for (const Algorithm* algorithm : algorithms()) {
    const Problem problem = problem_of(*algorithm, kMaxRanks);
    for (const int rank : {0, kMaxRanks - 1}) {
      INFO(algorithm->name << " " << name(algorithm->collective) << " rank=" << rank);
      const Program program = write_program(*algorithm, problem, rank);
      CHECK(program.ops.size() <= std::size_t{5} * kMaxRanks);
      CHECK(program.slices.size() <= std::size_t{8} * kMaxRanks);
      if (algorithm->name == "recursive_doubling") CHECK(program.ops.size() <= 4 * 12 + 1);
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
