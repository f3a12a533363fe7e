// Communicators made from communicators: who is in which, in what order, and that each works beside its parent.
#include "comm/split.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/random.h"
#include "hcomm/types.h"
#include "processes.h"
#include "world.h"

namespace hcomm {
namespace {

using testing::require;

Settings settings_of(std::string_view transport) {
  Settings settings;
  settings.transport = transport;
  settings.timeout_ns = 60 * kSecond;
  settings.connect_timeout_ns = 60 * kSecond;
  return settings;
}

std::unique_ptr<Communicator> made(Result<std::unique_ptr<Communicator>> result) {
  require(result.status());
  return std::move(result).value();
}

void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

std::int64_t sum_over(Communicator& communicator, std::int64_t own) {
  std::int64_t sum = 0;
  require(communicator.run({.collective = Collective::allreduce, .send = &own, .recv = &sum, .count = 1, .dtype = hcommInt64}));
  return sum;
}

// Colours and keys drawn alike on all ranks, with no-colour among them; each new communicator sums over its own ranks, and so
// does the parent in between.
void split_at_random(Communicator& parent, std::uint64_t seed) {
  Random random(seed);
  const auto ranks = static_cast<std::size_t>(parent.ranks());
  const auto own = static_cast<std::size_t>(parent.rank());
  std::vector<int> colours, keys;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    colours.push_back(static_cast<int>(random.below(3)) - 1);
    keys.push_back(static_cast<int>(random.below(3)) - 1);
  }
  const auto child = made(split(parent, colours[own], keys[own]));
  expect((child == nullptr) == (colours[own] < 0), "no colour, no communicator");
  expect(sum_over(parent, 1) == parent.ranks(), "the parent goes on");
  if (child == nullptr) return;
  std::vector<std::size_t> members;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (colours[rank] == colours[own]) members.push_back(rank);
  }
  std::ranges::stable_sort(members, {}, [&](std::size_t rank) { return keys[rank]; });
  std::int64_t expected = 0;
  for (const std::size_t rank : members) expected += std::int64_t{1} << rank;
  expect(child->ranks() == static_cast<int>(members.size()), "the size");
  expect(members[static_cast<std::size_t>(child->rank())] == own, "the order");
  expect(sum_over(*child, std::int64_t{1} << own) == expected, "the sum");
}

int entries(const char* folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("ranks of a colour are a communicator in the order of their keys, with the parent's beside it") {
  for (const std::string_view transport : {"shm", "tcp"}) {
    for (const int ranks : {1, 2, 5}) {
      INFO(transport << " " << ranks);
      testing::run_world(ranks, settings_of(transport), [](Communicator& parent) {
        for (std::uint64_t seed = 0; seed < 6; ++seed) split_at_random(parent, seed);
      });
    }
  }
}

TEST_CASE("processes of one host and of two split, and split again", "[process]") {
  for (const std::string_view transport : {std::string_view("shm"), std::string_view("tcp"), testing::kMixed}) {
    INFO(transport);
    std::vector<std::string> reports;
    const auto ended = testing::run_processes(4, settings_of(transport), [](Communicator& parent) -> std::string {
      for (std::uint64_t seed = 20; seed < 23; ++seed) split_at_random(parent, seed);
      const auto half = made(split(parent, parent.rank() % 2, -parent.rank()));
      const auto again = made(split(*half, 0, half->rank()));
      expect(again->ranks() == 2 && again->rank() == (parent.rank() < 2 ? 1 : 0), "the same two ranks");
      return std::to_string(sum_over(*again, parent.rank()));
    });
    for (const testing::Ended& each : ended) reports.push_back(each.report);
    CHECK(reports == std::vector<std::string>{"2", "4", "2", "4"});
  }
}

TEST_CASE("what is made from a communicator outlives it, and ends in any order") {
  testing::run_world(3, settings_of("shm"), [](Communicator& parent) {
    auto first = made(split(parent, 0, 0));
    auto second = made(split(*first, 0, 0));
    auto third = made(split(*first, 0, -parent.rank()));
    first.reset();
    expect(sum_over(*third, 1) == 3, "after its parent's end");
    if (parent.rank() == 1) second.reset();
    third.reset();
    expect(sum_over(parent, 1) == 3, "the first of all");
  });
}

TEST_CASE("a colour that is none is refused before the others hear of it") {
  testing::run_world(2, settings_of("shm"), [](Communicator& parent) {
    if (parent.rank() == 0) {
      const auto refused = split(parent, -2, 0);
      expect(refused.status().code() == hcommInvalidArgument, "the code");
      expect(refused.status().trail().find("color -2 is negative") != std::string_view::npos, "the text");
    }
    expect(made(split(parent, 7, 0))->ranks() == 2, "it is as if nothing had been");
  });
}

TEST_CASE("who does not split along is a mismatch") {
  std::array<hcommResult_t, 2> codes{};
  testing::run_world(2, settings_of("shm"), [&](Communicator& parent) {
    Status status;
    if (parent.rank() == 0) {
      status = Status::failure(split(parent, 0, 0).status().code(), "");
    } else {
      std::int64_t value = 0;
      status = parent.run({.collective = Collective::broadcast, .send = &value, .recv = &value, .count = 1, .dtype = hcommInt64});
    }
    codes[static_cast<std::size_t>(parent.rank())] = status.code();
  });
  CHECK(codes == std::array{hcommMismatch, hcommMismatch});
}

// What served the last few meetings is cleared away with the next one.
TEST_CASE("fifty communicators leave no more descriptors and threads behind than one meeting may hold") {
  for (const std::string_view transport : {"shm", "tcp"}) {
    INFO(transport);
    std::atomic<int> descriptors{0}, threads{0};
    testing::run_world(2, settings_of(transport), [&](Communicator& parent) {
      const auto make_some = [&](int count) {
        std::vector<std::unique_ptr<Communicator>> alive;
        for (int i = 0; i < count; ++i) alive.push_back(made(split(parent, 0, 0)));
        for (const auto& each : alive) expect(sum_over(*each, 1) == 2, "each works");
      };
      make_some(2);
      expect(sum_over(parent, 1) == 2, "all have let go");
      const int before = entries("/proc/self/fd");
      for (int round = 0; round < 10; ++round) make_some(5);
      expect(sum_over(parent, 1) == 2, "all have let go");
      descriptors = entries("/proc/self/fd") - before;
      threads = entries("/proc/self/task");
    });
    CHECK(descriptors < 20);
    CHECK(threads < 10);
  }
}

}  // namespace hcomm
