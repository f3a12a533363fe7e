// Which bytes are read and written: regions that touch or overlap, sizes around every boundary, communicators side by side.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <thread>

#include "base/random.h"
#include "comm/arena.h"
#include "comm/oracle.h"
#include "comm/world.h"
#include "kernels/combine.h"
#include "support.h"

namespace hcomm {
namespace {

using testing::algorithm_names;
using testing::Arena;
using testing::expect;
using testing::settings_for;

struct Buffers {
  Arena send{false};
  Arena recv{false};
};

// One call apart or in place, compared with the serial oracle; canaries on both sides.
void exact_call(Communicator& rank, CollectiveCall call, bool in_place, Buffers& buffers) {
  const auto input = testing::make_input(call, rank.rank(), rank.ranks());
  auto expected = testing::expected_output(call, rank.rank(), rank.ranks());
  if (in_place && !has_output(call.collective, rank.rank() == call.root)) expected = input;  // it is left alone
  const std::size_t part = call.count * element_bytes(call.dtype);
  const std::size_t skew = call.count % 5 * element_bytes(call.dtype);
  const auto recv = buffers.recv.take(in_place ? std::max(input.size(), expected.size()) : expected.size(), skew);
  const auto send = buffers.send.take(in_place ? 0 : input.size(), skew);
  std::byte* const from = !in_place ? send.data() : recv.data() + part * testing::part_in_place(call, Side::input, rank.rank());
  std::byte* const to = recv.data() + (in_place ? part * testing::part_in_place(call, Side::output, rank.rank()) : 0);
  std::ranges::fill(recv, std::byte{0x5a});
  std::ranges::copy(input, from);
  call.send = from;
  call.recv = to;
  testing::require(rank.run(call));
  const bool right = std::equal(expected.begin(), expected.end(), to);
  const bool kept = in_place || std::ranges::equal(send, input);
  expect(right && kept && buffers.send.canaries_live() && buffers.recv.canaries_live(),
         std::string(name(call.collective)) + " of " + std::to_string(call.count) + ", type " + std::to_string(call.dtype) +
             ", root " + std::to_string(call.root) + (in_place ? ", in place" : "") + ", rank " + std::to_string(rank.rank()) +
             ", " + std::string(rank.last_call().algorithm) + (right ? ": memory around it changed" : ": a wrong result"));
}

void all_sizes(Communicator& rank) {
  Buffers buffers;
  const auto ranks = static_cast<std::size_t>(rank.ranks());
  int turn = 0;
  for (const Collective collective : kCollectives) {
    if (collective == Collective::barrier) continue;
    for (const std::size_t count : std::set<std::size_t>{0, 1, 2, ranks - 1, ranks, ranks + 1, 63, 64, 65, 1000}) {
      for (int root = 0; root < (has_root(collective) ? rank.ranks() : 1); ++root) {
        for (const hcommDataType_t dtype : {hcommInt32, hcommFloat64, hcommFloat16}) {
          const CollectiveCall call{.collective = collective, .count = count, .dtype = dtype, .op = hcommSum, .root = root};
          exact_call(rank, call, ++turn % 3 == 0, buffers);
        }
      }
    }
    exact_call(rank, {.collective = collective, .count = 100'003, .dtype = hcommInt32}, false, buffers);
  }
}

// What a call answers whose count is another one than its peer's. Whatever that is, memory around the buffers is untouched.
hcommResult_t uneven_call(Communicator& rank, std::size_t count, bool window) {
  Arena send_memory(window), recv_memory(window);
  const auto send = send_memory.take(count * sizeof(float), 0);
  const auto recv = recv_memory.take(count * sizeof(float), 0);
  std::ranges::fill(send, std::byte{0});
  const Status status = rank.run({.collective = Collective::allreduce, .send = send.data(), .recv = recv.data(), .count = count,
                                  .dtype = hcommFloat32});
  expect(send_memory.canaries_live() && recv_memory.canaries_live(), "memory around a buffer changed");
  return status.code();
}

// Threads are ranks of three communicators: {0,1,2,3}, {2,3} and {1,2,3}.
struct Sub {
  int first;  // of the four
  std::vector<std::unique_ptr<Communicator>> members;
};

// The element tells communicator, round and rank, so that a stray message cannot look right.
void coded_round(Communicator& self, int which, int round, std::size_t count) {
  const auto code = [&](int rank) { return 1'000'000 * which + 100 * (round % 10'000) + rank; };
  const std::vector<int> send(count, code(self.rank()));
  std::vector<int> recv(count);
  testing::require(self.run(testing::allreduce_of(send, recv)));
  int sum = 0;
  for (int rank = 0; rank < self.ranks(); ++rank) sum += code(rank);
  expect(static_cast<std::size_t>(std::ranges::count(recv, sum)) == count, "a wrong sum in round " + std::to_string(round));
}

}  // namespace

// Out of place the others pass no buffer, or one that is poisoned; in place, one that they only send from.
TEST_CASE("B016 a reduce writes on its root alone") {
  for (const std::string_view algorithm : algorithm_names()) {
    for (const int ranks : {2, 3, 4, 5}) {
      INFO(algorithm << ", " << ranks << " ranks");
      REQUIRE_NOTHROW(testing::run_world(ranks, settings_for(algorithm, "shm"), [](Communicator& rank) {
        Arena send_memory(true), recv_memory(true);
        for (const int root : std::set<int>{0, 1, rank.ranks() - 1}) {
          for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{300'000}}) {
            CollectiveCall call{.collective = Collective::reduce, .count = count, .dtype = hcommFloat32, .root = root};
            const auto input = testing::make_input(call, rank.rank(), rank.ranks());
            const auto send = send_memory.take(input.size(), 0);
            const auto recv = recv_memory.take(input.size(), 0);
            for (const bool in_place : {false, true}) {
              std::ranges::copy(input, send.begin());
              std::ranges::fill(recv, std::byte{0x5a});
              call.send = send.data();
              call.recv = in_place ? send.data() : rank.rank() != root && count == 1000 ? nullptr : recv.data();
              testing::require(rank.run(call));
              const bool poisoned = std::ranges::count(recv, std::byte{0x5a}) == std::ssize(recv);
              const bool kept = std::ranges::equal(send, input);
              const auto sum = testing::expected_output(call, rank.rank(), rank.ranks());
              const bool right = rank.rank() == root ? std::ranges::equal(in_place ? send : recv, sum) : kept;
              expect(right && (in_place || kept) && (poisoned || (!in_place && rank.rank() == root)), "a wrong reduce");
            }
          }
        }
      }));
    }
  }
}

// Messages carry their length, and what lies in a slot carries the digest of its call.
TEST_CASE("B014 counts that differ do no harm, and are an error on both ranks") {
  struct Pair {
    std::size_t counts[2];
  };
  for (const std::string_view algorithm : algorithm_names()) {
    for (const Pair& pair : {Pair{{1, 2}}, Pair{{100, 200}}, Pair{{409'600, 409'598}}, Pair{{1'000'000, 1000}}}) {
      for (const bool window : {false, true}) {
        INFO(algorithm << ", " << pair.counts[0] << " and " << pair.counts[1] << (window ? " in windows" : ""));
        Settings settings = settings_for(algorithm, "shm");
        REQUIRE_NOTHROW(testing::run_world(2, settings, [&](Communicator& rank) {
          const hcommResult_t code = uneven_call(rank, pair.counts[rank.rank()], window);
          expect(code == hcommMismatch, "answered " + std::to_string(code));
        }));
      }
    }
  }
}

TEST_CASE("B019 regions that touch or are alike give right values, those that overlap are refused") {
  for (const std::string_view algorithm : algorithm_names()) {
    testing::run_world(3, settings_for(algorithm, "shm"), [](Communicator& rank) {
      std::vector<int> memory(60);
      const auto sum_to = [&](int* send, int* recv) {
        for (int i = 0; i < 10; ++i) send[i] = i + rank.rank();
        testing::require(
            rank.run({.collective = Collective::allreduce, .send = send, .recv = recv, .count = 10, .dtype = hcommInt32}));
        for (int i = 0; i < 10; ++i) expect(recv[i] == 3 * i + 3, "a wrong sum");
      };
      sum_to(memory.data(), memory.data());
      sum_to(memory.data(), memory.data() + 10);
      sum_to(memory.data() + 10, memory.data());
      // Ranks may differ in it.
      sum_to(memory.data(), memory.data() + (rank.rank() == 1 ? 0 : 20));
      for (const int distance : {1, 4, 9, -1, -9}) {
        const CollectiveCall overlap{.collective = Collective::allreduce, .send = memory.data() + 20,
                                     .recv = memory.data() + 20 + distance, .count = 10, .dtype = hcommInt32};
        expect(rank.run(overlap).code() == hcommInvalidArgument, "an overlap was not refused");
      }
      // A send buffer at a wrong place of the receive buffer of an allgather, and at the right one.
      const int wrong = (rank.rank() + 1) % 3;
      CollectiveCall gather{.collective = Collective::allgather, .send = memory.data() + 10 * wrong, .recv = memory.data(),
                            .count = 10, .dtype = hcommInt32};
      expect(rank.run(gather).code() == hcommInvalidArgument, "a wrong place was not refused");
      gather.send = memory.data() + 10 * rank.rank();
      std::fill_n(memory.data() + 10 * rank.rank(), 10, rank.rank());
      testing::require(rank.run(gather));
      for (int i = 0; i < 30; ++i) expect(memory[static_cast<std::size_t>(i)] == i / 10, "a wrong part");
    });
  }
}

TEST_CASE("B020 sizes around every boundary, one to nine ranks, every root, every algorithm") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const char* const transport = ranks % 2 == 0 ? "loopback" : "shm";
    for (const std::string_view algorithm : algorithm_names()) {
      INFO(algorithm << " on " << transport << ", " << ranks << " ranks");
      REQUIRE_NOTHROW(testing::run_world(ranks, settings_for(algorithm, transport), all_sizes));
    }
  }
}

TEST_CASE("B022 overlapping groups of ranks, back to back in changing order, never take each other's messages") {
  for (const char* const transport : {"loopback", "shm"}) {
    for (const char* const algorithm : {"recursive_doubling", "ring", "adaptive"}) {
      const Settings settings = settings_for(algorithm, transport);
      Sub subs[] = {{0, testing::make_world(4, settings)}, {2, testing::make_world(2, settings)},
                    {1, testing::make_world(3, settings)}};
      INFO(transport << " " << algorithm);
      REQUIRE_NOTHROW(testing::run_ranks(subs[0].members, [&](Communicator& whole) {
        Random order(20261130);
        Random pauses(static_cast<std::uint64_t>(whole.rank()));
        for (int round = 0; round < 700; ++round) {
          const auto which = static_cast<std::size_t>(order.below(3));
          const std::size_t count = order.below(20) == 0 ? 30'000 : 1 + order.below(600);
          const int place = whole.rank() - subs[which].first;
          if (place < 0) continue;
          if (pauses.below(50) == 0) std::this_thread::yield();
          coded_round(*subs[which].members[static_cast<std::size_t>(place)], static_cast<int>(which), round, count);
        }
      }));
    }
  }
}

}  // namespace hcomm
