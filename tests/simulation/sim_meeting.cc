#include "sim_meeting.h"

#include <stdexcept>

namespace hcomm::simulation {
namespace {

constexpr std::uint16_t kPort = 500;  // of the meeting

JoinOptions options_of(int rank, int ranks, Absent server, const Address& listens_at) {
  return {.rank = rank,
          .ranks = ranks,
          .timeout_ns = 60 * kSecond,
          .agreement = {},
          .host = host_id("node " + std::to_string(rank)),
          .host_is_told = true,
          .addresses = {listens_at},
          .listen_at = {Internet::address_of(rank)},
          .ports = {},
          .make_segment = {},
          .keep = {},
          .progress = {},
          .server = server};
}

}  // namespace

JobId job_at(int node) {
  JobId id;
  id.name.fill(std::byte{7});
  id.secret.fill(std::byte{9});
  id.at = {Internet::address_of(node, kPort)};
  return id;
}

SimServer::SimServer(Internet& internet, int node, const JobId& id, int ranks)
    : network_(internet.join(node)),
      server_(id, {.ranks = ranks, .make_segment = {}, .table = {}, .listen_at = {}, .ports = {}, .warn = {}}) {
  Result<std::unique_ptr<TcpDoor>> door = TcpDoor::open(*network_, id, {.at = id.at, .ports = {}});
  if (!door.ok()) throw std::runtime_error("the meeting cannot be served: " + std::string(door.status().trail()));
  door_ = std::move(door).value();
}

bool SimServer::is_due() const { return network_->has_events() || network_->clock().now() >= looked_at_ + kIdleStep; }

void SimServer::turn() {
  const TimeNs now = looked_at_ = network_->clock().now();
  network_->dispatch();
  while (server_.has_room()) {
    std::optional<TcpDoor::Guest> guest = door_->next(now);
    if (!guest.has_value()) break;
    server_.let_in({.line = std::move(guest->line), .remote = true, .claimed_rank = guest->rank}, now);
  }
  server_.turn(now);
}

SimJoining::SimJoining(Internet& internet, const JobId& id, int rank, int ranks, Absent server, const Address& listens_at)
    : network_(internet.join(rank)),
      options_(options_of(rank, ranks, server, listens_at)),
      attendant_(*network_, nullptr, id, options_) {}

bool SimJoining::is_due() const { return network_->has_events() || network_->clock().now() >= looked_at_ + kIdleStep; }

std::optional<Result<Meeting>> SimJoining::turn() {
  looked_at_ = network_->clock().now();
  network_->dispatch();
  attendant_.step();
  if (!attendant_.ended()) return std::nullopt;
  return attendant_.take();
}

}  // namespace hcomm::simulation
