// Hands the table of members to the ranks that fetch it here. Poll-driven, one thread.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "bootstrap/line.h"
#include "bootstrap/message.h"
#include "bootstrap/tcp_door.h"

namespace hcomm {

class Handout {
 public:
  explicit Handout(std::unique_ptr<TcpDoor> door) : door_(std::move(door)) {}

  std::vector<Address> addresses() const { return door_->addresses(); }

  // Ranks may come before it is known what they are to get: they wait.
  void step(TimeNs now);
  void give(const std::vector<std::int32_t>& ranks, std::vector<std::byte> message);
  bool done() const;  // all of them have it
  TimeNs next_deadline() const { return door_->next_deadline(); }

 private:
  std::unique_ptr<TcpDoor> door_;
  std::map<std::int32_t, std::unique_ptr<FrameLine>> guests_;  // by rank
  std::map<std::int32_t, bool> fed_;                      // who is to have it, and has
  std::vector<std::byte> message_;
};

}  // namespace hcomm
