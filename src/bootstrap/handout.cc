#include "bootstrap/handout.h"

#include <algorithm>
#include <array>

namespace hcomm {

void Handout::give(const std::vector<std::int32_t>& ranks, std::vector<std::byte> message) {
  for (const std::int32_t rank : ranks) fed_.emplace(rank, false);
  message_ = std::move(message);
}

void Handout::step(TimeNs now) {
  while (std::optional<TcpDoor::Guest> guest = door_->next(now)) {
    // A rank that comes again has lost its first connection.
    if (const auto found = fed_.find(guest->rank); found != fed_.end()) found->second = false;
    guests_[guest->rank] = std::move(guest->line);
  }
  if (message_.empty()) return;
  for (auto& [rank, has_it] : fed_) {
    const auto guest = guests_.find(rank);
    if (has_it || guest == guests_.end()) continue;
    has_it = guest->second->send(message_) == Sent::yes;
  }
  std::array<std::byte, 1> scratch;
  std::erase_if(guests_, [&](auto& guest) { return guest.second->receive(scratch).state == Received::end; });
}

bool Handout::done() const {
  return std::ranges::all_of(fed_, [&](const auto& each) {
    const auto guest = guests_.find(each.first);
    return each.second && (guest == guests_.end() || guest->second->drained());
  });
}

}  // namespace hcomm
