// Sends and receives on their way: who has started, who has met whom, who is known to have ended.
//
// In the worst case nothing is buffered: a send ends only when its receive has started. The k-th send of a channel
// (from, to, lane) meets the k-th receive.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "schedule/op.h"
#include "verify/access.h"
#include "verify/expression.h"

namespace hcomm {

struct Flight {
  Access who;
  bool is_send = false;
  std::uint32_t peer = 0;
  Lane lane = Lane::collective;
  Slice slice;
  bool met = false;           // both sides have started, so both end
  Time end_time = 0;          // the event of its rank that waited for it; 0: none yet
  VectorClock clock;          // what the sender knew at its start; after the meeting the receive holds it
  std::vector<Value> values;  // of a send: the blocks it carries
};

class Flights {
 public:
  // Starts one; `flight.who.flight` is set here. Returns its number.
  std::uint32_t start(Flight flight);

  // The earliest pair of this one's channel that has not met, if both sides have started.
  struct Pair {
    std::uint32_t send;
    std::uint32_t recv;
  };
  std::optional<Pair> meet(std::uint32_t flight);

  Flight& operator[](std::uint32_t flight) { return flights_[flight]; }
  const Flight& operator[](std::uint32_t flight) const { return flights_[flight]; }

  // Whether whoever owns `clock` knows that the access has ended.
  bool ended_before(const Access& access, const VectorClock& clock) const {
    if (access.flight == kNoFlight) return clock[access.rank] >= access.time;
    const Time end = flights_[access.flight].end_time;
    return end != 0 && clock[access.rank] >= end;
  }

 private:
  struct Channel {
    std::deque<std::uint32_t> sends;  // started, not met
    std::deque<std::uint32_t> recvs;
  };

  std::deque<Flight> flights_;
  std::unordered_map<std::uint64_t, Channel> channels_;
};

}  // namespace hcomm
