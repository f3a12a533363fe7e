#include "verify/flight.h"

#include <utility>

namespace hcomm {
namespace {

std::uint64_t channel_key(const Flight& flight) {
  const std::uint64_t from = flight.is_send ? flight.who.rank : flight.peer;
  const std::uint64_t to = flight.is_send ? flight.peer : flight.who.rank;
  return (from * kMaxRanks + to) * kLanes + static_cast<std::uint64_t>(flight.lane);
}

}  // namespace

std::uint32_t Flights::start(Flight flight) {
  const auto number = static_cast<std::uint32_t>(flights_.size());
  flight.who.flight = number;
  Channel& channel = channels_[channel_key(flight)];
  (flight.is_send ? channel.sends : channel.recvs).push_back(number);
  flights_.push_back(std::move(flight));
  return number;
}

std::optional<Flights::Pair> Flights::meet(std::uint32_t flight) {
  Channel& channel = channels_[channel_key(flights_[flight])];
  if (channel.sends.empty() || channel.recvs.empty()) return std::nullopt;
  const Pair pair{.send = channel.sends.front(), .recv = channel.recvs.front()};
  channel.sends.pop_front();
  channel.recvs.pop_front();
  flights_[pair.send].met = true;
  flights_[pair.recv].met = true;
  flights_[pair.recv].clock = std::move(flights_[pair.send].clock);
  return pair;
}

}  // namespace hcomm
