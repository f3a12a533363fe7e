// The arithmetic of chunks and blocks, at sizes where 32 bits do not do.
#include "schedule/binding.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace hcomm {
namespace {

struct Size {
  std::size_t unit;
  std::size_t granule;
};

std::vector<std::size_t> counts(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t two31 = std::size_t{1} << 31;
  const std::size_t two32 = std::size_t{1} << 32;
  return {0, 1, n - 1, n, n + 1, 1000, 100'003, 1'500'000'000, two31 - 1, two31, two31 + 1, two32 - 1, two32, two32 + 1};
}

// Large units keep the number of chunks, and so the test, small.
std::vector<Size> sizes(std::size_t count) {
  const std::size_t large = round_up(std::max<std::size_t>(count / 40, 64), 16);
  std::vector<Size> list = {{large, 16}, {large, 1}, {std::max<std::size_t>(round_up(count, 16), 16), 16}};
  if (count <= 100'003) list.insert(list.end(), {{16, 16}, {3, 1}, {64, 8}});
  return list;
}

void check_split(const Problem& problem, const Shape& shape, std::size_t count, const Size& size) {
  const Partition partition(problem, shape, count, size.unit, size.granule);
  std::size_t next = 0;
  for (std::size_t chunk = 0; chunk < partition.chunks(); ++chunk) {
    std::size_t length = 0;
    for (std::size_t block = 0; block < static_cast<std::size_t>(shape.blocks); ++block) {
      const Extent extent = partition.block(Side::output, chunk, block);
      if (extent.offset != next || extent.length > size.unit) FAIL("chunk " << chunk << " block " << block);
      const std::size_t begin = chunk * size.unit * static_cast<std::size_t>(shape.blocks);
      if (extent.length > 0 && (extent.offset - begin) % size.granule != 0) FAIL("a block starts inside of a granule");
      next += extent.length;
      length += extent.length;
    }
    if (length == 0) FAIL("an empty chunk");
  }
  CHECK(next == count);
}

// Where a block lies in the buffers that hold it, told the long way.
struct Places {
  std::size_t input;
  std::size_t output;
};

Places places(const Problem& problem, std::size_t block) {
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  switch (problem.collective) {
    case Collective::reduce_scatter:
    case Collective::scatter:   return {.input = block, .output = 0};
    case Collective::allgather:
    case Collective::gather:    return {.input = 0, .output = block};
    case Collective::alltoall:  return {.input = block % ranks, .output = block / ranks};
    case Collective::allreduce:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::barrier:   break;
  }
  FAIL("not strided");
  return {};
}

void check_strided(const Problem& problem, const Shape& shape, std::size_t count, const Size& size) {
  const Partition partition(problem, shape, count, size.unit, size.granule);
  for (std::size_t block = 0; block < static_cast<std::size_t>(shape.blocks); ++block) {
    std::size_t next = 0;
    for (std::size_t chunk = 0; chunk < partition.chunks(); ++chunk) {
      const Extent input = partition.block(Side::input, chunk, block);
      const Extent output = partition.block(Side::output, chunk, block);
      const Places at = places(problem, block);
      const bool right = input.offset == at.input * count + next && output.offset == at.output * count + next;
      if (!right) FAIL("chunk " << chunk << " block " << block);
      if (input.length != output.length || input.length == 0 || input.length > size.unit) FAIL("a wrong length");
      const Extent& extent = input;
      next += extent.length;
    }
    CHECK(next == count);
  }
}

}  // namespace

TEST_CASE("blocks tile the message without gap or overlap") {
  for (const Collective collective : {Collective::allreduce, Collective::broadcast}) {
    for (const int ranks : {1, 2, 3, 4, 7, 8, 64}) {
      const Problem problem{.collective = collective, .ranks = ranks};
      for (const std::size_t count : counts(ranks)) {
        for (const Size& size : sizes(count)) {
          for (const int blocks : {1, ranks, 2 * ranks}) check_split(problem, {.blocks = blocks}, count, size);
        }
      }
    }
  }
}

TEST_CASE("the blocks of a strided collective tile every rank's part") {
  for (const Collective collective : kCollectives) {
    if (!is_strided(collective)) continue;
    for (const int ranks : {1, 2, 3, 4, 7, 20}) {
      const Problem problem{.collective = collective, .ranks = ranks};
      for (const std::size_t count : counts(ranks)) {
        for (const Size& size : sizes(count)) {
          check_strided(problem, {.blocks = strided_blocks(collective, ranks)}, count, size);
        }
      }
    }
  }
}

TEST_CASE("a barrier has one chunk without bytes, and nothing else has chunks when there are no elements") {
  for (const Collective collective : kCollectives) {
    const Problem problem{.collective = collective, .ranks = 4};
    const Partition partition(problem, {.blocks = 4}, 0, 16, 16);
    CHECK(partition.chunks() == (collective == Collective::barrier ? 1 : 0));
    CHECK(partition.block(Side::input, 0, 3).length == 0);
  }
}

TEST_CASE("12 GB of a ring of four: every offset in bytes is right past 32 bits") {
  const Problem problem{.collective = Collective::allreduce, .ranks = 4};
  const std::size_t count = 1'500'000'000;
  const Partition partition(problem, {.blocks = 4}, count, round_up(count, 8), 8);
  REQUIRE(partition.chunks() == 1);
  const Extent last = partition.block(Side::output, 0, 3);
  CHECK(last.offset == 1'125'000'000);
  CHECK(last.offset * sizeof(std::int64_t) == 9'000'000'000);
  CHECK(last.offset + last.length == count);
}

TEST_CASE("blocks of unequal lengths have the runs of a chunk that they reach") {
  const std::size_t two32 = std::size_t{1} << 32;
  const std::vector<std::size_t> lengths = {two32 + 1, 0, 5}, offsets = {10, 0, two32 + 100}, none = {0, 0, 0};
  const Problem problem{.collective = Collective::allgather, .ranks = 3};
  const UnequalBlocks blocks{
      .rank = 2, .sides = {{{.lengths = lengths, .offsets = none}, {.lengths = lengths, .offsets = offsets}}}};
  const Partition partition(problem, {.blocks = 3}, two32 + 1, two32, 16);
  REQUIRE(partition.chunks() == 2);
  CHECK(partition.block(Side::output, 0, 0, &blocks) == Extent{.offset = 10, .length = two32});
  CHECK(partition.block(Side::output, 1, 0, &blocks) == Extent{.offset = 10 + two32, .length = 1});
  CHECK(partition.block(Side::output, 0, 1, &blocks).length == 0);
  CHECK(partition.block(Side::output, 0, 2, &blocks) == Extent{.offset = two32 + 100, .length = 5});
  CHECK(partition.block(Side::output, 1, 2, &blocks).length == 0);
  CHECK(partition.block(Side::input, 0, 2, &blocks) == Extent{.offset = 0, .length = 5});
}

TEST_CASE("whole blocks of an alltoall are one chunk, each as long as the side of this rank says") {
  const std::size_t two32 = std::size_t{1} << 32;
  const std::vector<std::size_t> sent = {3, two32 + 7}, sent_at = {1, 4}, received = {9, two32 + 7}, received_at = {two32 + 7, 0};
  const Problem problem{.collective = Collective::alltoall, .ranks = 2};
  const UnequalBlocks blocks{
      .rank = 1, .sides = {{{.lengths = sent, .offsets = sent_at}, {.lengths = received, .offsets = received_at}}}};
  const Partition partition = Partition::of_whole_blocks(problem, {.blocks = 4, .scratch_units = 2});
  REQUIRE(partition.chunks() == 1);
  CHECK(partition.block(Side::input, 0, 2, &blocks) == Extent{.offset = 1, .length = 3});                // from 1 to 0
  CHECK(partition.block(Side::output, 0, 1, &blocks) == Extent{.offset = two32 + 7, .length = 9});       // from 0 to 1
  CHECK(partition.block(Side::input, 0, 1, &blocks).length == 9);                                        // landing in scratch
  CHECK(partition.block(Side::input, 0, 3, &blocks) == Extent{.offset = 4, .length = two32 + 7});        // its own
  CHECK(partition.block(Side::output, 0, 3, &blocks) == Extent{.offset = 0, .length = two32 + 7});
}

}  // namespace hcomm
