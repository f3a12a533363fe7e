// One suite for all transports, each also with moods. A new transport adds one kind to the team and nothing here.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "base/random.h"
#include "team.h"

namespace hcomm::test {
namespace {

constexpr std::array kKinds = {Kind::loopback, Kind::shm_threads, Kind::shm_processes, Kind::tcp, Kind::mixed};

void on_all(TeamSpec spec, const Body& body, bool needs_window = false) {
  for (const Kind kind : kKinds) {
    if (needs_window && !has_window(kind)) continue;
    for (const FaultPlan& faults : {FaultPlan::none(), FaultPlan::delays(), FaultPlan::busy()}) {
      spec.kind = kind;
      spec.faults = faults;
      INFO(name(kind) << ", faults: " << faults.name << ", seed " << spec.seed);
      REQUIRE(run_team(spec, body) == "");
    }
  }
}

void on_all_with_window(const TeamSpec& spec, const Body& body) { on_all(spec, body, true); }

// `data` in up to five parts, some of them empty.
template <class Part, class Data>
std::vector<Part> cut(Data& data, Random& random) {
  std::vector<std::size_t> cuts = {0, data.size()};
  for (int i = 0; i < 4; ++i) cuts.push_back(random.below(data.size() + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<Part> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) parts.push_back(Part(data).subspan(cuts[i], cuts[i + 1] - cuts[i]));
  return parts;
}

TEST_CASE("a channel delivers in posting order") {
  on_all({.ranks = 2}, [](Transport& transport, int rank) {
    constexpr std::size_t kCount = 300;
    std::vector<std::uint64_t> numbers(kCount);
    std::vector<Completion> completions(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (rank == 0) {
        numbers[i] = i * i + 7;
        const ConstBytes part = std::as_bytes(std::span(&numbers[i], 1));
        transport.channel(1, Lane::collective).send({&part, 1}, 0, completions[i]);
      } else {
        const Bytes part = std::as_writable_bytes(std::span(&numbers[i], 1));
        transport.channel(0, Lane::collective).recv({&part, 1}, 0, completions[i]);
      }
    }
    for (const Completion& completion : completions) wait_for(transport, completion);
    for (std::size_t i = 0; i < kCount; ++i) expect(numbers[i] == i * i + 7, "out of order at " + std::to_string(i));
  });
}

TEST_CASE("messages of every size, from nothing to many rings, arrive whole") {
  on_all({.ranks = 2, .ring_bytes = 1024}, [](Transport& transport, int rank) {
    const std::size_t sizes[] = {0, 1, 15, 16, 47, 48, 49, 63, 64, 65, 0, 1000, 1008, 1009, 1023, 1024, 1025, 5000, 0, 70000};
    for (const std::size_t size : sizes) {
      const auto expected = pattern(size, size + 1);
      std::vector<std::byte> got(size);
      Completion completion;
      if (rank == 0) {
        send(transport, 1, Lane::collective, expected, completion);
      } else {
        recv(transport, 0, Lane::collective, got, completion);
      }
      wait_for(transport, completion);
      expect(rank == 0 || got == expected, "wrong bytes in a message of " + std::to_string(size));
    }
  });
}

TEST_CASE("both ends cut a message into parts as they like") {
  on_all({.ranks = 2, .ring_bytes = 512}, [](Transport& transport, int rank) {
    Random sizes(5);
    Random cuts(static_cast<std::uint64_t>(rank));
    for (int round = 0; round < 40; ++round) {
      const std::size_t size = sizes.below(1500);
      auto expected = pattern(size, static_cast<std::uint64_t>(round));
      std::vector<std::byte> got(size);
      Completion completion;
      if (rank == 0) {
        transport.channel(1, Lane::collective).send(cut<ConstBytes>(expected, cuts), 0, completion);
      } else {
        transport.channel(0, Lane::collective).recv(cut<Bytes>(got, cuts), 0, completion);
      }
      wait_for(transport, completion);
      expect(rank == 0 || got == expected, "wrong bytes in round " + std::to_string(round));
    }
  });
}

TEST_CASE("a message of another mark than its receive is refused before a byte of it is used") {
  on_all({.ranks = 2}, [](Transport& transport, int rank) {
    auto data = pattern(400, rank == 0 ? 1 : 2);
    const auto before = data;
    Completion completion;
    if (rank == 0) {
      const ConstBytes part(data);
      transport.channel(1, Lane::collective).send({&part, 1}, 17, completion);
      transport.poll();
    } else {
      const Bytes part(data);
      transport.channel(0, Lane::collective).recv({&part, 1}, 18, completion);
      turn_until(transport, [&] { return completion.finished; });
      expect(completion.status.code() == hcommMismatch, "a message of another call was taken");
      expect(data == before, "a byte of a refused message was used");
    }
    meet(transport, 1);
  });
}

TEST_CASE("a message of another length than its receive is refused, and what follows it, too") {
  on_all({.ranks = 2}, [](Transport& transport, int rank) {
    if (rank == 0) {
      std::array<Completion, 2> sends;
      const auto data = pattern(400, 1);
      send(transport, 1, Lane::collective, data, sends[0]);
      send(transport, 1, Lane::control, data, sends[1]);
      wait_for(transport, sends[1]);
      meet(transport, 1);
      return;
    }
    std::vector<std::byte> larger(800, std::byte{7});
    std::vector<std::byte> same(400);
    std::array<Completion, 3> receives;
    recv(transport, 0, Lane::collective, larger, receives[0]);
    recv(transport, 0, Lane::collective, same, receives[1]);
    recv(transport, 0, Lane::control, same, receives[2]);
    wait_for(transport, receives[2]);
    turn_until(transport, [&] { return receives[0].finished && receives[1].finished; });
    expect(receives[0].status.code() == hcommMismatch, "another code");
    expect(receives[0].status.trail().find("rank 0 sent 400 bytes where 800 were expected") != std::string_view::npos,
           receives[0].status.trail());
    expect(receives[1].status.code() == hcommMismatch, "the channel went on");
    expect(std::count(larger.begin(), larger.end(), std::byte{7}) == 800, "bytes of the wrong message were used");
    meet(transport, 1);
  });
}

TEST_CASE("a lane that is blocked does not block another") {
  on_all({.ranks = 2, .ring_bytes = 512}, [](Transport& transport, int rank) {
    const auto large = pattern(200000, 1);
    const auto small = pattern(100, 2);
    std::vector<std::byte> got_large(200000);
    std::vector<std::byte> got_small(100);
    Completion blocked;
    Completion free;
    if (rank == 0) {
      send(transport, 1, Lane::collective, large, blocked);
      send(transport, 1, Lane::point_to_point, small, free);
      wait_for(transport, free);
      expect(!blocked.finished, "a send of many rings and windows ended before its receive began");
      meet(transport, 1);
    } else {
      recv(transport, 0, Lane::point_to_point, got_small, free);
      wait_for(transport, free);
      expect(got_small == small, "wrong bytes");
      meet(transport, 1);
      recv(transport, 0, Lane::collective, got_large, blocked);
    }
    wait_for(transport, blocked);
    expect(rank == 0 || got_large == large, "wrong bytes");
  });
}

TEST_CASE("all ranks flood all others at once") {
  on_all({.ranks = 4, .ring_bytes = 1024}, [](Transport& transport, int rank) {
    constexpr int kRounds = 6;
    std::vector<std::vector<std::byte>> out;
    std::vector<std::vector<std::byte>> in;
    std::vector<Completion> completions(static_cast<std::size_t>(2 * kRounds * 3));
    const auto seed = [](int from, int to, int round) { return static_cast<std::uint64_t>(from * 10000 + to * 100 + round); };
    const auto size = [](int round) { return static_cast<std::size_t>(round % 2 == 0 ? 9000 : 30); };
    std::size_t next = 0;
    out.reserve(completions.size());
    in.reserve(completions.size());
    for (int round = 0; round < kRounds; ++round) {
      for (int distance = 1; distance < 4; ++distance) {
        const int to = (rank + distance) % 4;
        const int from = (rank + 4 - distance) % 4;
        const Lane lane = round % 3 == 0 ? Lane::collective : Lane::point_to_point;
        send(transport, to, lane, out.emplace_back(pattern(size(round), seed(rank, to, round))), completions[next++]);
        recv(transport, from, lane, in.emplace_back(size(round)), completions[next++]);
      }
    }
    for (const Completion& completion : completions) wait_for(transport, completion);
    next = 0;
    for (int round = 0; round < kRounds; ++round) {
      for (int distance = 1; distance < 4; ++distance) {
        expect(in[next++] == pattern(size(round), seed((rank + 4 - distance) % 4, rank, round)), "wrong bytes");
      }
    }
  });
}

TEST_CASE("a step carries the data before it") {
  on_all_with_window({.ranks = 3, .slots = 2, .slot_bytes = 256}, [](Transport& transport, int rank) {
    Window& window = *transport.window();
    for (std::uint64_t epoch = 1; epoch <= 60; ++epoch) {
      std::memset(window.slot(rank, epoch), static_cast<int>(epoch + static_cast<std::uint64_t>(rank)), window.slot_bytes);
      std::memset(window.inline_slot(rank, epoch), static_cast<int>(epoch), StepLine::payload_bytes(window.slots));
      window.record(rank, epoch) = {.window = epoch, .generation = epoch + 1, .offset = static_cast<std::uint64_t>(rank)};
      meet(transport, epoch);
      for (int peer = 0; peer < window.ranks; ++peer) {
        const auto value = static_cast<std::byte>(epoch + static_cast<std::uint64_t>(peer));
        const std::byte* const slot = window.slot(peer, epoch);
        expect(std::count(slot, slot + window.slot_bytes, value) == 256, "a slot was read before it was written");
        const std::byte last = window.inline_slot(peer, epoch)[StepLine::payload_bytes(window.slots) - 1];
        expect(last == static_cast<std::byte>(epoch), "a payload was too early");
        expect(window.record(peer, epoch).generation == epoch + 1, "a record was too early");
        expect(window.record(peer, epoch).offset == static_cast<std::uint64_t>(peer), "another rank's record");
      }
    }
    meet(transport, 61);  // nobody leaves while somebody reads
  });
}

TEST_CASE("no wake-up is lost between two sleepers") {
  on_all_with_window({.ranks = 2}, [](Transport& transport, int rank) {
    const MonotonicClock clock;
    const TimeNs start = clock.now();
    Window& window = *transport.window();
    const int peer = 1 - rank;
    for (std::uint64_t turn = 1; turn <= 500; ++turn) {
      if (turn % 2 == static_cast<std::uint64_t>(rank)) {
        window.steps[rank].step.store(turn, std::memory_order_seq_cst);
        ring(window, peer);
      } else {
        turn_until(transport, [&] { return window.steps[peer].step.load(std::memory_order_seq_cst) >= turn; });
      }
    }
    // Each lost one would cost a whole sleep of 100 ms.
    expect(clock.now() - start < 10 * kSecond, "wake-ups were lost");
    window.steps[rank].step.store(1000, std::memory_order_seq_cst);
    ring(window, peer);
    turn_until(transport, [&] { return window.steps[peer].step.load(std::memory_order_seq_cst) == 1000; });
  });
}

TEST_CASE("a sleep is bounded, and one that was rung before it began does not begin") {
  on_all_with_window({.ranks = 2}, [](Transport& transport, int rank) {
    const MonotonicClock clock;
    if (rank == 0) {
      const TimeNs start = clock.now();
      transport.arm();
      transport.sleep(20 * kSecond);  // nobody rings: rank 1 waits for the meeting
      transport.arm();
      transport.sleep(-1);
      expect(clock.now() - start < 5 * kSecond, "slept on and on");
    }
    Window& window = *transport.window();
    transport.arm();
    ring(window, rank);
    transport.sleep(kSecond);
    expect(window.doorbells[rank].sleeping.load() == 0, "still announced as asleep");
    if (rank == 1) turn_until(transport, [&] { return window.steps[0].step.load(std::memory_order_seq_cst) == 1; });
    meet(transport, 1);
  });
}

TEST_CASE("one that leaves in good order is known to have left, and what it sent arrives") {
  on_all({.ranks = 3}, [](Transport& transport, int rank) {
    const auto data = pattern(200, 3);
    std::vector<std::byte> got(200);
    Completion completion;
    meet(transport, 1);
    if (rank == 0) {
      send(transport, 1, Lane::collective, data, completion);
      wait_for(transport, completion);
      return;
    }
    if (rank == 1) {
      recv(transport, 0, Lane::collective, got, completion);
      wait_for(transport, completion);
      expect(got == data, "wrong bytes");
    }
    turn_until(transport, [&] { return transport.board().is_dead(0); });
    expect(transport.board().has_left(0), "counts as dead");
    expect(transport.board().pid(0) > 0, "no pid");
  });
}

TEST_CASE("one thread can turn all ranks") {
  for (const Kind kind : {Kind::loopback, Kind::shm_threads, Kind::tcp, Kind::mixed}) {
    const auto ranks = open_all({.kind = kind, .ranks = 5});
    std::vector<Completion> completions(10);
    const auto data = pattern(3000, 1);
    std::vector<std::vector<std::byte>> got(5, std::vector<std::byte>(3000));
    for (int rank = 0; rank < 5; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      send(*ranks[index], (rank + 1) % 5, Lane::collective, data, completions[2 * index]);
      recv(*ranks[index], (rank + 4) % 5, Lane::collective, got[index], completions[2 * index + 1]);
    }
    const MonotonicClock clock;
    const TimeNs end = clock.now() + 20 * kSecond;
    const auto finished = [](const Completion& each) { return each.finished; };
    while (!std::ranges::all_of(completions, finished) && clock.now() < end) {
      for (const auto& rank : ranks) rank->poll();
    }
    for (const Completion& completion : completions) CHECK((completion.finished && completion.status.ok()));
    for (const auto& bytes : got) CHECK(bytes == data);
  }
}

TEST_CASE("between ranks that share no memory no wake-up is lost either") {
  for (const Kind kind : {Kind::tcp, Kind::mixed}) {
    const MonotonicClock clock;
    const TimeNs start = clock.now();
    const std::string report = run_team({.kind = kind, .ranks = 4}, [](Transport& transport, int rank) {
      std::vector<std::byte> token(8);
      for (int turn = 0; turn < 400; ++turn) {  // around a ring, each rank asleep until its turn
        Completion sent, received;
        if (turn % 4 == rank) {
          send(transport, (rank + 1) % 4, Lane::collective, token, sent);
          wait_for(transport, sent);
        } else if (turn % 4 == (rank + 3) % 4) {
          recv(transport, (rank + 3) % 4, Lane::collective, token, received);
          wait_for(transport, received);
        }
      }
      meet(transport, 1);
    });
    CHECK(report == "");
    CHECK(clock.now() - start < 10 * kSecond);  // each lost one would cost 100 ms
  }
}

TEST_CASE("local pairs move nothing over the network, and pairs of different hosts nothing through memory") {
  const std::string report = run_team({.kind = Kind::mixed, .ranks = 4}, [](Transport& transport, int rank) {
    std::vector<std::vector<std::byte>> got(4, std::vector<std::byte>(3000));
    std::vector<Completion> ends(8);
    const auto data = pattern(3000, 1);
    for (std::size_t peer = 0; peer < 4; ++peer) {
      if (static_cast<int>(peer) == rank) continue;
      send(transport, static_cast<int>(peer), Lane::collective, data, ends[2 * peer]);
      recv(transport, static_cast<int>(peer), Lane::collective, got[peer], ends[2 * peer + 1]);
    }
    for (std::size_t peer = 0; peer < 4; ++peer) {
      if (static_cast<int>(peer) == rank) continue;
      wait_for(transport, ends[2 * peer]);
      wait_for(transport, ends[2 * peer + 1]);
      expect(got[peer] == data, "wrong bytes");
      const Traffic traffic = transport.traffic(static_cast<int>(peer));
      const bool is_near = static_cast<int>(peer) / 2 == rank / 2;
      expect((traffic.over_network > 0) == !is_near, "a local pair used the network, or a remote one did not");
      expect((traffic.in_memory > 0) == is_near, "a remote pair used memory, or a local one did not");
    }
    meet(transport, 1);
  });
  CHECK(report == "");
}

}  // namespace
}  // namespace hcomm::test
