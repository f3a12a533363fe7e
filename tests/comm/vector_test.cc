// Goal: the V variants give exactly the right bytes, whatever the lengths and places of the parts, and write nothing else.
// Method: lengths and places drawn from seeds, with zeros and giants among them; each element says whose it is.
#include "comm/vector_call.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include "algos/algorithm.h"
#include "base/random.h"
#include "comm/group.h"
#include "world.h"

namespace hcomm {
namespace {

using testing::require;
using Lengths = std::vector<std::size_t>;

constexpr std::int64_t kUntouched = -1;

// What all ranks of a test know, drawn alike by each of them.
struct Scene {
  int ranks = 1;
  int root = 0;
  std::vector<Lengths> sent;  // [from][to], in elements

  std::size_t length(int from, int to) const { return sent[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]; }
};

// Few ranks have much, many nothing; all but the largest fit a slot of the tests.
std::size_t draw_length(Random& random) {
  switch (random.below(6)) {
    case 0:
    case 1:  return 0;
    case 2:  return 1;
    case 3:  return random.below(40);
    case 4:  return random.below(3000);
    default: return random.below(40'000);
  }
}

Scene draw(int ranks, Collective collective, Random& random) {
  Scene scene{.ranks = ranks, .root = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)))};
  for (int from = 0; from < ranks; ++from) {
    Lengths row(static_cast<std::size_t>(ranks));
    for (std::size_t& length : row) length = draw_length(random);
    const bool same_for_all = collective == Collective::allgather || collective == Collective::gather;
    if (same_for_all) std::ranges::fill(row, row.front());
    if (from > 0 && (collective == Collective::reduce_scatter || collective == Collective::scatter)) row = scene.sent.front();
    scene.sent.push_back(std::move(row));
  }
  return scene;
}

std::int64_t value(int from, int to, std::size_t i) {
  return (std::int64_t{from} * 100 + to) * 1'000'000 + static_cast<std::int64_t>(i);
}

// One side of a rank's call: parts with gaps between them, in an order of their own.
struct Side_ {
  Lengths lengths, offsets;
  std::vector<std::int64_t> memory;

  std::int64_t* part(std::size_t which) { return memory.data() + offsets[which]; }
};

Side_ lay_out(Lengths lengths, bool with_gaps, Random& random) {
  Side_ side{.lengths = std::move(lengths)};
  side.offsets.resize(side.lengths.size());
  std::vector<std::size_t> order(side.lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (with_gaps) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  }
  std::size_t next = with_gaps ? random.below(3) : 0;
  for (const std::size_t which : order) {
    side.offsets[which] = next;
    next += side.lengths[which] + (with_gaps ? random.below(3) : 0);
  }
  side.memory.assign(next + 1, kUntouched);
  return side;
}

// What a rank holds before and what it must hold afterwards.
struct Expectation {
  Side_ send, recv;
  std::vector<std::int64_t> after;
};

// The lengths of a rank's parts on one side; none where it has no such buffer.
Lengths lengths_of(const Scene& scene, Collective collective, Side side, int rank) {
  if (side == Side::input ? !has_input(collective, rank == scene.root) : !has_output(collective, rank == scene.root)) return {};
  const Lengths& row = scene.sent[static_cast<std::size_t>(rank)];
  if (side == Side::input) return is_lone(collective, side) ? Lengths{row.front()} : row;
  if (is_lone(collective, side)) return {row[static_cast<std::size_t>(rank)]};
  Lengths column;
  const int to = collective == Collective::alltoall ? rank : 0;
  for (int from = 0; from < scene.ranks; ++from) column.push_back(scene.length(from, to));
  return column;
}

// What a rank must find in a part of its recv.
std::int64_t received(const Scene& scene, Collective collective, int rank, int part, std::size_t i) {
  if (collective == Collective::scatter) return value(scene.root, rank, i);
  if (collective == Collective::alltoall) return value(part, rank, i);
  if (collective != Collective::reduce_scatter) return value(part, 0, i);
  std::int64_t sum = 0;
  for (int from = 0; from < scene.ranks; ++from) sum += value(from, rank, i);
  return sum;
}

Expectation expect(const Scene& scene, Collective collective, int rank, Random& random) {
  Expectation made;
  for (const Side side : {Side::input, Side::output}) {
    Lengths lengths = lengths_of(scene, collective, side, rank);
    const bool in_order = lengths.size() < 2 || (collective == Collective::reduce_scatter && side == Side::input);
    const bool with_gaps = !in_order && random.below(2) == 0;
    (side == Side::input ? made.send : made.recv) = lay_out(std::move(lengths), with_gaps, random);
  }
  const bool alone = is_lone(collective, Side::input);
  for (std::size_t to = 0; to < made.send.lengths.size(); ++to) {
    for (std::size_t i = 0; i < made.send.lengths[to]; ++i) {
      made.send.part(to)[i] = value(rank, alone ? 0 : static_cast<int>(to), i);
    }
  }
  Side_ result = made.recv;
  for (std::size_t part = 0; part < result.lengths.size(); ++part) {
    for (std::size_t i = 0; i < result.lengths[part]; ++i) {
      result.part(part)[i] = received(scene, collective, rank, static_cast<int>(part), i);
    }
  }
  made.after = std::move(result.memory);
  return made;
}

VectorCall call_of(const Scene& scene, Collective collective, Expectation& of, bool with_offsets) {
  const auto list = [](const Lengths& lengths) { return lengths.empty() ? nullptr : lengths.data(); };
  VectorCall call{.collective = collective,
                  .send = of.send.memory.data(),
                  .recv = of.recv.memory.data(),
                  .dtype = hcommInt64,
                  .root = has_root(collective) ? scene.root : 0};
  const bool lone_send = is_lone(collective, Side::input), lone_recv = is_lone(collective, Side::output);
  if (lone_send) call.send_count = of.send.lengths.front();
  else call.send_counts = list(of.send.lengths);
  if (lone_recv) call.recv_count = of.recv.lengths.front();
  else call.recv_counts = list(of.recv.lengths);
  if (with_offsets && !lone_send && collective != Collective::reduce_scatter) call.send_offsets = list(of.send.offsets);
  if (with_offsets && !lone_recv) call.recv_offsets = list(of.recv.offsets);
  return call;
}

constexpr Collective kVectors[] = {Collective::allgather, Collective::reduce_scatter, Collective::gather, Collective::scatter,
                                   Collective::alltoall};

void run_all(Communicator& rank, std::uint64_t seed, int times) {
  for (int time = 0; time < times; ++time) {
    for (const Collective collective : kVectors) {
      Random shared(seed + static_cast<std::uint64_t>(time));
      const Scene scene = draw(rank.ranks(), collective, shared);
      Random own(seed * 31 + static_cast<std::uint64_t>(time * 64 + rank.rank()));
      Expectation expected = expect(scene, collective, rank.rank(), own);
      const std::vector<std::int64_t> sent = expected.send.memory;
      Result<UnequalParts> parts = UnequalParts::of(call_of(scene, collective, expected, true), rank.rank(), rank.ranks());
      require(parts.status());
      require(rank.run(parts.value().call()));
      if (expected.recv.memory != expected.after || expected.send.memory != sent) {
        throw std::runtime_error("wrong " + std::string(name(collective)) + "_v by " +
                                 std::string(rank.last_call().algorithm) + ", seed " + std::to_string(seed) + ", time " +
                                 std::to_string(time) + ", rank " + std::to_string(rank.rank()));
      }
    }
  }
}

Settings settings_of(std::string_view transport, std::string_view algo) {
  Settings settings;
  settings.transport = transport;
  settings.algo = algo;
  settings.timeout_ns = 60 * kSecond;
  return testing::with_environment_slots(settings);
}

}  // namespace

TEST_CASE("V variants are exact on every transport, by every algorithm") {
  std::set<std::string_view> names = {"adaptive"};
  for (const Algorithm* algorithm : algorithms()) names.insert(algorithm->name);
  std::uint64_t seed = 1;
  for (const std::string_view transport : testing::kAllTransports) {
    for (const std::string_view algo : names) {
      for (const int ranks : {1, 2, 3, 5}) {
        if ((algo == "flat" || algo == "direct") && !testing::has_window(transport) && ranks > 1) continue;
        ++seed;
        INFO(transport << " " << algo << " " << ranks);
        testing::run_world(ranks, settings_of(transport, algo), [&](Communicator& rank) { run_all(rank, seed, 3); });
      }
    }
  }
}

TEST_CASE("in place, a rank's own part lies among the others, and alltoall_v takes where it gave") {
  for (const std::string_view transport : testing::kAllTransports) {
    testing::run_world(3, settings_of(transport, "adaptive"), [](Communicator& rank) {
      const Lengths lengths = {5, 0, 3000}, offsets = {3001, 0, 0};
      const auto own = static_cast<std::size_t>(rank.rank());
      std::vector<std::int64_t> all(3006, kUntouched);
      for (std::size_t i = 0; i < lengths[own]; ++i) all[offsets[own] + i] = value(rank.rank(), 0, i);
      Result<UnequalParts> gathers = UnequalParts::of({.collective = Collective::allgather,
                                                       .send = all.data() + offsets[own],
                                                       .send_count = lengths[own],
                                                       .recv = all.data(),
                                                       .recv_counts = lengths.data(),
                                                       .recv_offsets = offsets.data(),
                                                       .dtype = hcommInt64},
                                                      rank.rank(), 3);
      require(gathers.status());
      require(rank.run(gathers.value().call()));
      for (std::size_t from = 0; from < 3; ++from) {
        for (std::size_t i = 0; i < lengths[from]; ++i) {
          if (all[offsets[from] + i] != value(static_cast<int>(from), 0, i)) throw std::runtime_error("wrong allgather_v");
        }
      }
      if (all[3000] != kUntouched) throw std::runtime_error("allgather_v wrote between the parts");

      // Between two ranks as many elements go as come.
      const std::size_t between[3][3] = {{2, 700, 0}, {700, 0, 9}, {0, 9, 4}};
      const Lengths row(between[own], between[own] + 3);
      const Lengths places = {row[1] + row[2], 0, row[1]};
      std::vector<std::int64_t> memory(row[0] + row[1] + row[2]);
      for (std::size_t to = 0; to < 3; ++to) {
        for (std::size_t i = 0; i < row[to]; ++i) memory[places[to] + i] = value(rank.rank(), static_cast<int>(to), i);
      }
      Result<UnequalParts> exchange = UnequalParts::of({.collective = Collective::alltoall,
                                                        .send = memory.data(),
                                                        .send_counts = row.data(),
                                                        .send_offsets = places.data(),
                                                        .recv = memory.data(),
                                                        .recv_counts = row.data(),
                                                        .recv_offsets = places.data(),
                                                        .dtype = hcommInt64},
                                                       rank.rank(), 3);
      require(exchange.status());
      require(rank.run(exchange.value().call()));
      for (std::size_t from = 0; from < 3; ++from) {
        for (std::size_t i = 0; i < row[from]; ++i) {
          const bool right = memory[places[from] + i] == value(static_cast<int>(from), rank.rank(), i);
          if (!right) throw std::runtime_error("wrong alltoall_v");
        }
      }
    });
  }
}

TEST_CASE("lengths that do not fit are a mismatch, whether all ranks know them or not") {
  for (const std::string_view transport : {"loopback", "tcp"}) {
    for (const Collective collective : {Collective::allgather, Collective::gather, Collective::alltoall}) {
      INFO(transport << " " << name(collective));
      std::array<hcommResult_t, 2> codes{};
      std::array<std::string, 2> texts;
      testing::run_world(2, settings_of(transport, "adaptive"), [&](Communicator& rank) {
        const auto own = static_cast<std::size_t>(rank.rank());
        const Lengths right = {4, 6}, wrong = {4, 7};
        const Lengths& lengths = own == 0 ? right : wrong;
        const Lengths alltoall[2][2] = {{{1, 4}, {1, 6}}, {{7, 1}, {4, 1}}};  // [rank][sent, received]
        std::vector<std::int64_t> send(20), recv(20);
        VectorCall call{.collective = collective, .send = send.data(), .recv = recv.data(), .dtype = hcommInt64};
        if (collective == Collective::alltoall) {
          call.send_counts = alltoall[own][0].data();
          call.recv_counts = alltoall[own][1].data();
        } else {
          call.send_count = lengths[own];
          call.recv_counts = lengths.data();
        }
        Result<UnequalParts> parts = UnequalParts::of(call, rank.rank(), 2);
        require(parts.status());
        const Status status = rank.run(parts.value().call());
        codes[own] = status.code();
        texts[own] = status.trail();
      });
      INFO(texts[0] << "\n" << texts[1]);
      CHECK(std::ranges::count(codes, hcommMismatch) >= 1);
      CHECK(codes[0] == hcommMismatch);  // rank 0 receives what is too long, or hears of other lengths
    }
  }
}

TEST_CASE("lists that contradict themselves are refused by name, before a buffer is read") {
  const Lengths two = {4, 6}, huge = {SIZE_MAX / 2, 1}, far = {0, SIZE_MAX - 2}, one_over_another = {0, 3}, turned = {6, 0};
  std::vector<std::int64_t> memory(20);
  const auto refused = [&](const VectorCall& call) {
    const Result<UnequalParts> parts = UnequalParts::of(call, 0, 2);
    REQUIRE_FALSE(parts.ok());
    CHECK(parts.status().code() == hcommInvalidArgument);
    return std::string(parts.status().trail());
  };
  const VectorCall right{.collective = Collective::allgather, .send = memory.data() + 10, .send_count = 4,
                         .recv = memory.data(), .recv_counts = two.data(), .dtype = hcommInt64};
  CHECK(UnequalParts::of(right, 0, 2).ok());
  const auto with = [&](auto change) {
    VectorCall call = right;
    change(call);
    return refused(call);
  };
  using Catch::Contains;
  CHECK_THAT(with([](VectorCall& call) { call.recv_counts = nullptr; }), Contains("allgather_v: recv_counts is NULL"));
  CHECK_THAT(with([](VectorCall& call) { call.send_count = 5; }), Contains("has 5 elements for itself in send, and 4 in recv"));
  CHECK_THAT(with([&](VectorCall& call) { call.recv_counts = huge.data(); }),
             Contains("recv_counts of rank 0") && Contains("the most is"));
  CHECK_THAT(with([&](VectorCall& call) { call.recv_offsets = far.data(); }), Contains("recv_counts of rank 1 is 6, at offset"));
  CHECK_THAT(with([&](VectorCall& call) { call.recv_offsets = one_over_another.data(); }),
             Contains("ranks 0 and 1 overlap in recv"));
  CHECK_THAT(with([](VectorCall& call) { call.recv = nullptr; }), Contains("recv is NULL"));
  CHECK_THAT(with([](VectorCall& call) { call.send = nullptr; }), Contains("send is NULL"));
  CHECK_THAT(with([&](VectorCall& call) { call.send = memory.data() + 1; }), Contains("overlap in part"));
  CHECK_THAT(with([](VectorCall& call) { call.dtype = static_cast<hcommDataType_t>(99); }), Contains("dtype 99"));
  CHECK_THAT(refused({.collective = Collective::scatter, .recv_count = 1, .root = 2}), Contains("root 2 is no rank"));
  CHECK_THAT(refused({.collective = Collective::alltoall, .recv_counts = two.data()}), Contains("send_counts is NULL"));
  CHECK_THAT(refused({.collective = Collective::reduce_scatter}), Contains("reduce_scatter_v: recv_counts is NULL"));
  const VectorCall exchange{.collective = Collective::alltoall, .send = memory.data(), .send_counts = two.data(),
                            .recv = memory.data(), .recv_counts = two.data(), .recv_offsets = turned.data(), .dtype = hcommInt64};
  CHECK_THAT(refused(exchange), Contains("overlap in part"));
}

TEST_CASE("V variants in a group keep their lists") {
  testing::run_world(2, settings_of("loopback", "adaptive"), [](Communicator& rank) {
    std::vector<std::int64_t> recv(7, kUntouched);
    const std::int64_t send[4] = {10 + rank.rank(), 20 + rank.rank(), 30 + rank.rank(), 40 + rank.rank()};
    group_start();
    {
      const Lengths lengths = {4, 3};
      Result<UnequalParts> parts = UnequalParts::of({.collective = Collective::allgather,
                                                     .send = send,
                                                     .send_count = lengths[static_cast<std::size_t>(rank.rank())],
                                                     .recv = recv.data(),
                                                     .recv_counts = lengths.data(),
                                                     .dtype = hcommInt64},
                                                    rank.rank(), 2);
      require(parts.status());
      require(group_record(rank, std::move(parts).value()));
    }
    require(group_end());
    if (recv != std::vector<std::int64_t>{10, 20, 30, 40, 11, 21, 31}) throw std::runtime_error("wrong in a group");
  });
}

}  // namespace hcomm
