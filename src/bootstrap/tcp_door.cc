#include "bootstrap/tcp_door.h"

#include <algorithm>

#include "bootstrap/message.h"

namespace hcomm {

Result<std::unique_ptr<TcpDoor>> TcpDoor::open(Network& network, const JobId& job, Plan plan) {
  std::unique_ptr<TcpDoor> door(new TcpDoor(job, std::move(plan)));
  Status failure;
  for (const Address& address : door->plan_.at) {
    Result<std::unique_ptr<Acceptor>> acceptor =
        Acceptor::listen(network, address, job.secret, *door, {.ports = door->plan_.ports});
    if (acceptor.ok()) door->acceptors_.push_back(std::move(acceptor).value());
    else if (failure.ok()) failure = std::move(acceptor).status();
  }
  if (door->acceptors_.empty() && !failure.ok()) return failure;
  return door;
}

Refusal TcpDoor::judge(const Claim& claim) {
  const bool is_for_us = claim.job == job_.name && claim.purpose == Purpose::meeting && claim.to == plan_.rank;
  return is_for_us ? Refusal::none : Refusal::wrong_job;
}

void TcpDoor::arrived(const Claim& claim, std::unique_ptr<Stream> stream) {
  guests_.push_back({std::make_unique<FrameLine>(std::move(stream), kMaxMessageBytes), claim.from});
}

void TcpDoor::report(std::string_view line) {
  if (plan_.warn) plan_.warn(line);
}

std::optional<TcpDoor::Guest> TcpDoor::next(TimeNs now) {
  for (const auto& acceptor : acceptors_) acceptor->expire(now);
  if (guests_.empty()) return std::nullopt;
  Guest guest = std::move(guests_.front());
  guests_.pop_front();
  return guest;
}

TimeNs TcpDoor::next_deadline() const {
  TimeNs next = guests_.empty() ? kNever : 0;
  for (const auto& acceptor : acceptors_) next = std::min(next, acceptor->next_time());
  return next;
}

std::vector<Address> TcpDoor::addresses() const {
  std::vector<Address> all;
  for (const auto& acceptor : acceptors_) all.push_back(acceptor->address());
  return all;
}

}  // namespace hcomm
