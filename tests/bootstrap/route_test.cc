// Goal: the table reaches every host, and nobody sends much for it. Method: all routes of many shapes are walked; bytes are
// counted.
#include "bootstrap/route.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

std::vector<Seat> seats_on(int ranks, int hosts, bool first_has_no_listener = false) {
  std::vector<Seat> seats(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const int host = rank % hosts;
    seats[static_cast<std::size_t>(rank)].host = host_id(std::to_string(host));
    if (host == 0 && first_has_no_listener) continue;
    seats[static_cast<std::size_t>(rank)].meets_at = {
        {.family = Family::inet, .port = static_cast<std::uint16_t>(rank + 1), .bytes = {std::byte{10}}}};
  }
  return seats;
}

// How many hands the table goes through until it is at this rank.
int depth_of(const std::vector<Route>& routes, std::int32_t rank) {
  const std::int32_t source = routes[static_cast<std::size_t>(rank)].source;
  return source < 0 ? 1 : 1 + depth_of(routes, source);
}

TEST_CASE("every leader gets the table, over at most log2 hands, and nobody feeds more than two") {
  for (const int hosts : {1, 2, 3, 4, 7, 8, 33, 64}) {
    for (const int ranks : {hosts, 2 * hosts + 1}) {
      for (const bool without : {false, true}) {
        INFO(ranks << " ranks on " << hosts << " hosts");
        const std::vector<Seat> seats = seats_on(ranks, hosts, without);
        const std::vector<Route> routes = routes_of(seats);
        int from_coordinator = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const Route& route = routes[static_cast<std::size_t>(rank)];
          CHECK(route.leader == rank % hosts);
          CHECK(route.place == rank / hosts);
          CHECK(route.group == (ranks - rank % hosts + hosts - 1) / hosts);
          CHECK((route.source == kFromLeader) == (route.place != 0));
          CHECK(route.feeds.size() <= kMaxFed);
          from_coordinator += route.source == kFromCoordinator ? 1 : 0;
          if (route.source < 0) continue;
          const Route& source = routes[static_cast<std::size_t>(route.source)];
          CHECK(std::ranges::count(source.feeds, rank) == 1);
          CHECK(route.source_at == seats[static_cast<std::size_t>(route.source)].meets_at);
          CHECK((1 << (depth_of(routes, rank) - 1)) <= hosts);
        }
        CHECK(from_coordinator <= static_cast<int>(kMaxFed) + (without ? 1 : 0));
      }
    }
  }
}

// What the coordinator sends after the hellos: a welcome to each rank, the table to some.
std::size_t coordinator_bytes(int ranks, int hosts) {
  std::size_t bytes = 0;
  for (const Route& route : routes_of(seats_on(ranks, hosts))) {
    bytes += to_bytes(Answer{.kind = AnswerKind::welcome, .ranks = ranks, .route = route}).size();
    if (route.source == kFromCoordinator) bytes += table_message_bytes(ranks);
  }
  return bytes;
}

TEST_CASE("twice the ranks cost the coordinator twice the bytes, not four times") {
  for (const int ranks : {64, 512, 2048}) {
    CHECK(coordinator_bytes(ranks, ranks) < static_cast<std::size_t>(ranks) * 700);
    CHECK(coordinator_bytes(2 * ranks, 2 * ranks) < 2 * coordinator_bytes(ranks, ranks) + 1000);
    CHECK(coordinator_bytes(ranks, ranks / 8) < static_cast<std::size_t>(ranks) * 700);
  }
}

TEST_CASE("routes survive their bytes, and wild ones are refused") {
  Route route{.leader = 2, .group = 3, .place = 0, .source = 1, .source_at = seats_on(1, 1)[0].meets_at, .feeds = {5, 6}};
  const auto again = [&](int ranks) {
    return parse_answer(to_bytes(Answer{.kind = AnswerKind::welcome, .ranks = ranks, .context = 4, .route = route}));
  };
  REQUIRE(again(8).ok());
  CHECK(again(8).value().route == route);
  CHECK_FALSE(again(6).ok());  // 6 is no rank of six
  const Route good = route;
  for (const auto& spoil : std::initializer_list<void (*)(Route&)>{
           [](Route& each) { each.leader = -1; }, [](Route& each) { each.leader = 8; }, [](Route& each) { each.group = 0; },
           [](Route& each) { each.group = 9; }, [](Route& each) { each.place = 3; }, [](Route& each) { each.source = -3; },
           [](Route& each) { each.source = 8; }, [](Route& each) { each.source_at.clear(); },
           [](Route& each) { each.feeds = {-1}; }}) {
    route = good;
    spoil(route);
    CHECK_FALSE(again(8).ok());
  }
}

}  // namespace
}  // namespace hcomm
