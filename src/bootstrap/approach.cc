#include "bootstrap/approach.h"

#include <unistd.h>

#include <algorithm>

#include "bootstrap/message.h"

namespace hcomm {
namespace {

constexpr TimeNs kKnockEvery = 5 * kMillisecond;

// Before the secret leaves this process: whoever listens must be of this user.
Status check_coordinator(const Descriptor& socket) {
  const std::optional<SocketPeer> peer = peer_process(socket);
  if (peer.has_value() && peer->uid == geteuid()) return {};
  const std::string who = peer.has_value() ? "user " + std::to_string(peer->uid) : "an unknown user";
  return Status::failure(hcommInvalidUsage, "the meeting is served by " + who + ", and this process runs as user " +
                                                std::to_string(geteuid()) + "; run all ranks as one user");
}

constexpr std::string_view kNobody =
    "nobody serves this id here: its communicator was made already (an id serves once), the process that made the id has ended, "
    "or that process is on another host or in another network namespace";

}  // namespace

Approach::Approach(Network& network, KernelNetwork* sockets, const JobId& id, const ApproachOptions& options)
    : network_(network), sockets_(options.by_unix ? sockets : nullptr), id_(id), options_(options) {
  again();
}

void Approach::again() {
  knock_at_ = network_.clock().now();
  remote_ = false;
  if (id_.at.empty()) return;
  const Claim claim{.job = id_.name, .purpose = Purpose::meeting, .from = options_.rank, .to = 0};
  const DialPlan plan{.addresses = id_.at, .keeps_trying = options_.server == Absent::may_come};
  dialer_.emplace(network_, id_.secret, claim, plan, static_cast<Watcher&>(*this));
}

Result<std::unique_ptr<Line>> Approach::knock() {
  if (network_.clock().now() < knock_at_) return std::unique_ptr<Line>();
  knock_at_ = add_saturated(network_.clock().now(), kKnockEvery);
  Result<Visit> visited = visit(id_);
  if (!visited.ok()) return std::move(visited).status();
  was_full_ = visited.value().knock == Knock::full;
  if (visited.value().knock == Knock::nobody && options_.server == Absent::is_an_error && !dialer_.has_value()) {
    return Status::failure(hcommRemoteError, kNobody);
  }
  if (visited.value().knock != Knock::answered) return std::unique_ptr<Line>();
  if (Status status = check_coordinator(visited.value().socket); !status.ok()) return status;
  Result<std::unique_ptr<UnixLine>> line = UnixLine::over(*sockets_, std::move(visited.value().socket));
  if (!line.ok()) return std::move(line).status();
  return std::unique_ptr<Line>(std::move(line).value());
}

Result<std::unique_ptr<Line>> Approach::step() {
  if (sockets_ != nullptr) {
    Result<std::unique_ptr<Line>> line = knock();
    if (!line.ok() || line.value() != nullptr || was_full_) return line;
  }
  if (!dialer_.has_value()) return std::unique_ptr<Line>();
  return dial();
}

Result<std::unique_ptr<Line>> Approach::dial() {
  dialer_->expire(network_.clock().now());
  switch (dialer_->state()) {
    case Dialer::State::dialing:   return std::unique_ptr<Line>();
    case Dialer::State::connected: break;
    case Dialer::State::failed:
      return dialer_->failure().during(dialer_->refusal() == Refusal::none ? kNobody : "dialling the meeting");
  }
  remote_ = true;
  const std::size_t most = std::max(kMaxMessageBytes, table_message_bytes(options_.ranks));
  return std::unique_ptr<Line>(std::make_unique<FrameLine>(dialer_->take(), most));
}

TimeNs Approach::next_deadline() const {
  const TimeNs knock = sockets_ == nullptr ? kNever : knock_at_;
  return dialer_.has_value() ? std::min(knock, dialer_->next_time()) : knock;
}

std::string Approach::story() const {
  if (was_full_) return "the meeting accepted no connection in time";
  return dialer_.has_value() ? dialer_->story() : "nobody serves it here";
}

}  // namespace hcomm
