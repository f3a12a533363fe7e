// What the conformance suite does not show of a hub: several communicators at once, early, failed and closed ones.
#include "transport/hub.h"

#include <catch2/catch.hpp>

#include <thread>

#include "team.h"
#include "transport/mesh.h"

namespace hcomm::test {
namespace {

std::unique_ptr<Transport> mesh_of(const std::vector<SharedHub>& hubs, int rank, std::uint32_t context) {
  const auto ranks = static_cast<int>(hubs.size());
  return open_mesh({.rank = rank,
                    .ranks = ranks,
                    .context = context,
                    .hub = hubs[static_cast<std::size_t>(rank)],
                    .local = {},
                    .here = std::vector<bool>(hubs.size(), false),
                    .pids = std::vector<int>(hubs.size(), 1)});
}

// Both turn until `done`, in one thread.
void turn_both(Transport& one, Transport& other, const std::function<bool()>& done) {
  const MonotonicClock clock;
  const TimeNs end = clock.now() + 20 * kSecond;
  while (!done()) {
    expect(clock.now() < end, "nothing more came within 20 s");
    one.poll();
    other.poll();
  }
}

// Two ranks; rank 1 comes and goes, at one place.
struct Successors {
  Successors() {
    kept = open_hub(secret, 0, 2, places[0]);
    come();
  }

  void come() {
    going = open_hub(secret, 1, 2, places[1]);
    name_all();
  }
  void name_all() {
    const std::vector<std::vector<Address>> all = {{places[0]}, {places[1]}};
    kept->set_peers(all);
    going->set_peers(all);
  }
  std::unique_ptr<Transport> here(std::uint32_t context) const { return mesh_of({kept, going}, 0, context); }
  std::unique_ptr<Transport> there(std::uint32_t context) const { return mesh_of({kept, going}, 1, context); }

  Secret secret{};
  std::vector<Address> places = std::vector<Address>(2, parse_address("127.0.0.1:0").value());
  SharedHub kept;
  SharedHub going;
};

// A message each way arrives.
void exchange(Transport& zero, Transport& one) {
  const auto data = pattern(5000, 1);
  std::vector<std::byte> at_zero(data.size()), at_one(data.size());
  std::array<Completion, 4> ends;
  send(zero, 1, Lane::collective, data, ends[0]);
  recv(one, 0, Lane::collective, at_one, ends[1]);
  send(one, 0, Lane::collective, data, ends[2]);
  recv(zero, 1, Lane::collective, at_zero, ends[3]);
  turn_both(zero, one, [&] { return std::ranges::all_of(ends, [](const Completion& each) { return each.finished; }); });
  for (const Completion& each : ends) expect(each.status.ok(), each.status.trail());
  expect(at_zero == data && at_one == data, "wrong bytes");
}

}  // namespace

TEST_CASE("threads that use different communicators of one hub at once do not disturb each other") {
  constexpr int kContexts = 3;
  const auto hubs = open_hubs(2);
  std::vector<std::string> errors(2 * kContexts);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    for (int context = 0; context < kContexts; ++context) {
      threads.emplace_back([&, rank, context] {
        try {
          const auto transport = mesh_of(hubs, rank, static_cast<std::uint32_t>(context));
          for (std::uint64_t round = 0; round < 150; ++round) {
            const std::uint64_t seed = round * kContexts + static_cast<std::uint64_t>(context);
            const auto data = pattern(round % 10 == 9 ? 300000 : 100, seed);
            std::vector<std::byte> got(data.size());
            Completion sent, received;
            send(*transport, 1 - rank, Lane::collective, data, sent);
            recv(*transport, 1 - rank, Lane::collective, got, received);
            wait_for(*transport, received);
            wait_for(*transport, sent);
            expect(got == data, "wrong bytes in round " + std::to_string(round));
          }
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(rank * kContexts + context)] = error.what();
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("what is sent in a communicator that the other rank has not made yet waits for it") {
  const auto hubs = open_hubs(2);
  const auto first = mesh_of(hubs, 0, 0);
  const auto other = mesh_of(hubs, 1, 0);
  const auto early = mesh_of(hubs, 0, 1);
  const auto data = pattern(5000, 1);
  std::vector<std::byte> got(data.size());
  Completion sent, received;
  send(*early, 1, Lane::collective, data, sent);
  turn_both(*early, *other, [&] { return sent.finished; });
  const auto late = mesh_of(hubs, 1, 1);
  recv(*late, 0, Lane::collective, got, received);
  turn_both(*early, *late, [&] { return received.finished; });
  CHECK(received.status.ok());
  CHECK(got == data);
}

TEST_CASE("who speaks in a communicator that the other rank has left is told so, and the hub's others go on") {
  const auto hubs = open_hubs(2);
  const auto kept_here = mesh_of(hubs, 0, 0);
  const auto kept_there = mesh_of(hubs, 1, 0);
  const auto left_here = mesh_of(hubs, 0, 1);
  mesh_of(hubs, 1, 1).reset();
  const auto data = pattern(100, 1);
  Completion sent;
  send(*left_here, 1, Lane::collective, data, sent);
  turn_both(*left_here, *kept_there, [&] { return left_here->board().is_dead(1); });
  CHECK(left_here->board().has_left(1));
  CHECK_FALSE(kept_here->board().is_dead(1));

  std::vector<std::byte> got(data.size());
  Completion kept_sent, received;
  send(*kept_here, 1, Lane::collective, data, kept_sent);
  recv(*kept_there, 0, Lane::collective, got, received);
  turn_both(*kept_here, *kept_there, [&] { return received.finished; });
  CHECK(got == data);
}

TEST_CASE("after a verdict nothing is written into the memory of a receive, whoever drives the hub") {
  const auto hubs = open_hubs(2);
  const auto failed = mesh_of(hubs, 1, 0);
  const auto driver = mesh_of(hubs, 1, 1);
  const auto sender = mesh_of(hubs, 0, 0);
  const auto other = mesh_of(hubs, 0, 1);
  std::vector<std::byte> target(1000, std::byte{7});
  Completion received, sent;
  recv(*failed, 0, Lane::collective, target, received);
  failed->board().give({.reason = Reason::aborted, .culprit = 1, .writer = 1});
  const auto data = pattern(1000, 1);
  send(*sender, 1, Lane::collective, data, sent);

  std::vector<std::byte> got(1000);
  Completion marker_sent, marker;
  send(*other, 1, Lane::collective, data, marker_sent);
  recv(*driver, 0, Lane::collective, got, marker);
  turn_both(*other, *driver, [&] { return marker.finished; });
  CHECK(got == data);
  CHECK(std::ranges::count(target, std::byte{7}) == 1000);
}

TEST_CASE("a verdict reaches a rank over others, though nobody has spoken with it") {
  const auto hubs = open_hubs(4);
  std::vector<std::unique_ptr<Transport>> ranks;
  for (int rank = 0; rank < 4; ++rank) ranks.push_back(mesh_of(hubs, rank, 0));
  ranks[0]->board().give({.reason = Reason::broken, .culprit = 0, .writer = 0});
  ranks[0]->alarm();
  const MonotonicClock clock;
  const TimeNs end = clock.now() + 20 * kSecond;
  const auto knows = [](const auto& rank) { return rank->board().has_verdict(); };
  while (!std::ranges::all_of(ranks, knows) && clock.now() < end) {
    for (const auto& rank : ranks) rank->poll();
  }
  for (const auto& rank : ranks) {
    REQUIRE(rank->board().has_verdict());
    CHECK(rank->board().verdict()->culprit == 0);
  }
}

// Or a rank that waits would never be out of time.
TEST_CASE("the answer to a question is no work") {
  const Successors ranks;
  const auto zero = ranks.here(0);
  const auto one = ranks.there(0);
  exchange(*zero, *one);
  one->board().set_beat(1, 77);
  zero->poll();
  int work = 0;
  zero->inquire();
  turn_both(*one, *one, [&] {
    work += zero->poll();
    return zero->board().beat(1) == 77;
  });
  CHECK(work == 0);
}

TEST_CASE("who was taken for gone and comes again at the same place is there in a new communicator, and dead in the old one") {
  Successors ranks;
  const auto old = ranks.here(0);
  auto leaver = ranks.there(0);
  exchange(*old, *leaver);
  const bool is_noticed = GENERATE(true, false);
  INFO((is_noticed ? "its end was seen" : "its end was on its way"));
  leaver.reset();
  ranks.going.reset();
  if (is_noticed) turn_until(*old, [&] { return old->board().is_dead(1); });

  ranks.come();
  const auto zero = ranks.here(1);
  const auto one = ranks.there(1);
  exchange(*zero, *one);
  CHECK_FALSE(zero->board().is_dead(1));
  CHECK(old->board().is_dead(1));
}

TEST_CASE("a peer that was not there when it was dialled is reached once it is named anew") {
  Successors ranks;
  ranks.going.reset();
  const auto old = ranks.here(0);
  const auto data = pattern(100, 1);
  Completion never;
  send(*old, 1, Lane::collective, data, never);  // nobody listens there: noticed, or about to be
  const bool is_noticed = GENERATE(true, false);
  if (is_noticed) turn_until(*old, [&] { return old->board().is_dead(1); });

  ranks.come();
  const auto zero = ranks.here(1);
  const auto one = ranks.there(1);
  exchange(*zero, *one);
  CHECK_FALSE(zero->board().is_dead(1));
}

// A hub refuses a peer that speaks of more communicators than it can know.
TEST_CASE("a successor hears nothing of communicators that it was never in") {
  constexpr std::uint32_t kMany = Hub::kMostEarlyContexts + 1;
  Successors ranks;
  std::vector<std::unique_ptr<Transport>> old;
  for (std::uint32_t context = 0; context < kMany; ++context) {
    old.push_back(ranks.here(context));
    exchange(*old.back(), *ranks.there(context));
  }
  ranks.going.reset();

  ranks.come();
  const auto zero = ranks.here(kMany);
  const auto one = ranks.there(kMany);
  exchange(*zero, *one);
  const auto data = pattern(100, 1);
  std::vector<Completion> never(kMany);
  for (std::uint32_t context = 0; context < kMany; ++context) {
    send(*old[context], 1, Lane::collective, data, never[context]);
    old[context]->inquire();
    old[context]->board().give({.reason = Reason::aborted, .culprit = 0, .writer = 0});
    old[context]->poll();
  }
  old.clear();
  exchange(*zero, *one);
}

TEST_CASE("ranks reach those at distances of powers of two, and then a verdict comes from one that makes no more turns") {
  for (const Kind kind : {Kind::tcp, Kind::mixed}) {
    auto ranks = open_all({.kind = kind, .ranks = 7});
    const auto missing = [&] {
      bool some = false;
      for (const auto& each : ranks) {
        each->poll();
        some = each->reach() != kNoRank || some;
      }
      return some;
    };
    const MonotonicClock clock;
    for (const TimeNs end = clock.now() + 20 * kSecond; missing() && clock.now() < end;) {
    }
    REQUIRE_FALSE(missing());
    ranks[6]->board().give({.reason = Reason::aborted, .culprit = 6, .writer = 6});
    ranks[6]->alarm();
    const auto waits = [&] {
      bool waiting = false;
      for (int rank = 0; rank < 6; ++rank) {
        Transport& each = *ranks[static_cast<std::size_t>(rank)];
        each.poll();
        waiting = waiting || !each.board().has_verdict();
      }
      return waiting;
    };
    for (const TimeNs end = clock.now() + 20 * kSecond; waits() && clock.now() < end;) {
    }
    for (int rank = 0; rank < 6; ++rank) CHECK(ranks[static_cast<std::size_t>(rank)]->board().has_verdict());
  }
}

}  // namespace hcomm::test
