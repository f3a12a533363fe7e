// How the table of members reaches all ranks of a meeting of several hosts, so that no rank sends much.
//
//   coordinator               The lowest rank of each host is its leader. The coordinator sends the table to two leaders, each
//      |        |             leader hands it on to two more (a binary tree, in rank order), and to the other ranks of its host
//   leader 0   leader 1       in memory, with the segment. A leader without a listener for that (only one on the coordinator's
//    |     |     |    |       own host has none) gets it from the coordinator, too.
//    2     3     4    5 ...
//
// With n ranks on h hosts: each rank gets one welcome from the coordinator, which has a fixed size; the table has n records of
// fixed size and leaves the coordinator twice or, at most, three times. So it sends O(n) bytes, and a leader at most two tables,
// in log2(h) rounds.
#pragma once

#include <vector>

#include "bootstrap/message.h"

namespace hcomm {

struct Seat {
  HostId host{};
  std::vector<Address> meets_at;  // empty: hands nothing on
};

// [rank] of all ranks of a meeting.
std::vector<Route> routes_of(const std::vector<Seat>& seats);

}  // namespace hcomm
