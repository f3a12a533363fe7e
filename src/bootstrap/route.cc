#include "bootstrap/route.h"

#include <map>

namespace hcomm {
namespace {

std::vector<Route> grouped(const std::vector<Seat>& seats) {
  std::map<HostId, std::vector<std::size_t>> hosts;
  for (std::size_t rank = 0; rank < seats.size(); ++rank) hosts[seats[rank].host].push_back(rank);
  std::vector<Route> routes(seats.size());
  for (const auto& [host, ranks] : hosts) {
    for (std::size_t place = 0; place < ranks.size(); ++place) {
      routes[ranks[place]] = {.leader = static_cast<std::int32_t>(ranks.front()),
                              .group = static_cast<std::int32_t>(ranks.size()),
                              .place = static_cast<std::int32_t>(place)};
    }
  }
  return routes;
}

}  // namespace

std::vector<Route> routes_of(const std::vector<Seat>& seats) {
  std::vector<Route> routes = grouped(seats);
  std::vector<std::size_t> tree;  // leaders that can hand the table on
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    if (routes[rank].place != 0) continue;
    routes[rank].source = kFromCoordinator;
    if (!seats[rank].meets_at.empty()) tree.push_back(rank);
  }
  // In heap order below the coordinator: leader i feeds leaders 2 i + 2 and 2 i + 3.
  for (std::size_t i = kMaxFed; i < tree.size(); ++i) {
    const std::size_t parent = tree[(i - kMaxFed) / kMaxFed];
    routes[tree[i]].source = static_cast<std::int32_t>(parent);
    routes[tree[i]].source_at = seats[parent].meets_at;
    routes[parent].feeds.push_back(static_cast<std::int32_t>(tree[i]));
  }
  return routes;
}

}  // namespace hcomm
