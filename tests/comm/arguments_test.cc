// Goal: a call that is wrong by itself is refused with InvalidArgument that names what and what is legal, and changes nothing.
#include "comm/arguments.h"

#include <catch2/catch.hpp>

#include <vector>

#include "world.h"

namespace hcomm {
namespace {

const CollectiveCall kGood{.collective = Collective::allreduce, .dtype = hcommInt32};

std::string refusal(const CollectiveCall& call, int rank = 0, int ranks = 2) {
  const Status status = check_arguments(call, rank, ranks);
  CHECK(status.code() == (status.ok() ? hcommSuccess : hcommInvalidArgument));
  return std::string(status.trail());
}

}  // namespace

TEST_CASE("numbers that name nothing are refused") {
  std::vector<int> memory(64);
  CollectiveCall call = kGood;
  call.send = memory.data();
  call.recv = memory.data() + 32;
  call.count = 8;
  CHECK(refusal(call).empty());
  SECTION("dtype") {
    call.dtype = static_cast<hcommDataType_t>(99);
    CHECK_THAT(refusal(call), Catch::Contains("dtype 99"));
  }
  SECTION("op") {
    call.op = static_cast<hcommRedOp_t>(77);
    CHECK_THAT(refusal(call), Catch::Contains("op 77") && Catch::Contains("sum"));
  }
  SECTION("an op that the type does not have") {
    call.dtype = hcommComplex64;
    call.op = hcommMax;
    CHECK_THAT(refusal(call), Catch::Contains("op max") && Catch::Contains("complex64; legal for it are sum, prod, avg"));
    call.dtype = hcommFloat16;
    call.op = hcommBxor;
    CHECK_THAT(refusal(call), Catch::Contains("op bxor") && Catch::Contains("float16; legal for it are sum, prod, min, max"));
    call.dtype = hcommBool;
    call.op = hcommAvg;
    CHECK_THAT(refusal(call), Catch::Contains("op avg") && Catch::Contains("bool; legal for it are sum, prod"));
    call.collective = Collective::broadcast;  // in which it means nothing
    CHECK(refusal(call).empty());
  }
  SECTION("roots") {
    call.collective = Collective::broadcast;
    for (const int root : {-1, 2, 1 << 30}) {
      call.root = root;
      CHECK_THAT(refusal(call), Catch::Contains("root " + std::to_string(root)) && Catch::Contains("0 to 1"));
    }
  }
  SECTION("a count that no memory holds") {
    for (const std::size_t count : {~std::size_t{0}, ~std::size_t{0} / 4, std::size_t{PTRDIFF_MAX} / 4 + 1}) {
      call.count = count;
      CHECK_THAT(refusal(call), Catch::Contains("count " + std::to_string(count)));
    }
    call.collective = Collective::allgather;
    call.count = std::size_t{PTRDIFF_MAX} / 4;
    CHECK_THAT(refusal(call), Catch::Contains("more than memory can hold"));
  }
}

TEST_CASE("null pointers are refused, unless there is nothing to move") {
  int memory[8] = {};
  for (const Collective collective : kCollectives) {
    CollectiveCall call{.collective = collective, .dtype = hcommInt32};
    CHECK(refusal(call).empty());
    if (collective == Collective::barrier) continue;
    call.count = 4;
    CHECK_THAT(refusal(call), Catch::Contains("send is NULL"));
    call.send = memory;
    CHECK_THAT(refusal(call), Catch::Contains("recv is NULL"));
  }
  const CollectiveCall not_root{.collective = Collective::broadcast, .recv = memory, .count = 8, .dtype = hcommInt32, .root = 1};
  CHECK(refusal(not_root, 0).empty());
  CHECK_THAT(refusal(not_root, 1), Catch::Contains("send is NULL"));
  const CollectiveCall reduce{.collective = Collective::reduce, .send = memory, .count = 8, .dtype = hcommInt32, .root = 1};
  CHECK(refusal(reduce, 0).empty());
  CHECK_THAT(refusal(reduce, 1), Catch::Contains("recv is NULL"));
}

// B019: in place is judged by what regions really are.
TEST_CASE("overlaps: exact is in place, partial is refused, apart is fine") {
  std::vector<int> memory(64);
  int* const base = memory.data();
  const auto verdict = [&](Collective collective, const int* send, int* recv, int rank) {
    return refusal({.collective = collective, .send = send, .recv = recv, .count = 8, .dtype = hcommInt32}, rank, 2).empty();
  };
  CHECK(verdict(Collective::allreduce, base, base, 0));
  CHECK(verdict(Collective::allreduce, base, base + 8, 0));
  CHECK_FALSE(verdict(Collective::allreduce, base, base + 4, 0));
  CHECK_FALSE(verdict(Collective::allreduce, base + 7, base, 0));
  CHECK(verdict(Collective::reduce, base, base, 0));
  CHECK_FALSE(verdict(Collective::reduce, base, base + 4, 0));
  CHECK(verdict(Collective::reduce, base, base + 4, 1));  // not the root: recv is not looked at
  CHECK(verdict(Collective::allgather, base + 8, base, 1));
  CHECK_FALSE(verdict(Collective::allgather, base + 8, base, 0));
  CHECK_FALSE(verdict(Collective::allgather, base + 1, base, 0));
  CHECK(verdict(Collective::allgather, base + 16, base, 0));
  CHECK(verdict(Collective::reduce_scatter, base, base + 8, 1));
  CHECK_FALSE(verdict(Collective::reduce_scatter, base, base + 8, 0));
  CHECK(verdict(Collective::reduce_scatter, base, base + 16, 0));
  CHECK_FALSE(verdict(Collective::reduce_scatter, base, base + 15, 0));
}

// B005, convention 5: after refused calls the communicator works as if they had not been made.
TEST_CASE("refused calls change nothing") {
  Settings settings;
  settings.transport = "loopback";
  testing::run_world(2, settings, [](Communicator& rank) {
    int send[7], recv[7];
    for (int i = 0; i < 7; ++i) send[i] = i + rank.rank();
    const CollectiveCall good{.collective = Collective::allreduce, .send = send, .recv = recv, .count = 7, .dtype = hcommInt32};
    for (int round = 0; round < 3; ++round) {
      CollectiveCall bad = good;
      if (round == 0) bad.dtype = static_cast<hcommDataType_t>(99);
      if (round == 1) bad.recv = send + 3;
      if (round == 2) bad.count = ~std::size_t{0};
      if (rank.run(bad).code() != hcommInvalidArgument) throw std::runtime_error("a bad call was not refused");
      testing::require(rank.run(good));
      for (int i = 0; i < 7; ++i) {
        if (recv[i] != 2 * i + 1) throw std::runtime_error("wrong result after a refused call");
      }
    }
  });
}

// B001: nothing to move, null pointers, then a normal call; the sequence did not slip.
TEST_CASE("B001 zero counts with null buffers") {
  for (const char* const algo : {"flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree"}) {
    for (const int ranks : {2, 3}) {
      Settings settings;
      settings.transport = "loopback";
      settings.algo = algo;
      testing::run_world(ranks, settings, [](Communicator& rank) {
        for (const Collective collective : kCollectives) {
          testing::require(rank.run({.collective = collective, .dtype = hcommFloat32}));
        }
        float send[7], recv[7];
        for (float& each : send) each = 1.5f;
        testing::require(
            rank.run({.collective = Collective::allreduce, .send = send, .recv = recv, .count = 7, .dtype = hcommFloat32}));
        for (const float each : recv) {
          if (each != 1.5f * static_cast<float>(rank.ranks())) throw std::runtime_error("wrong sum after empty calls");
        }
      });
    }
  }
}

}  // namespace hcomm
