#include "bootstrap/join.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "bootstrap/round.h"
#include "bootstrap/socket.h"

namespace hcomm {
namespace {

// After giving up, how long the coordinator has to say who is missing.
constexpr TimeNs kLastWordWithin = 2 * kSecond;

Status check(const JoinOptions& options) {
  if (options.ranks < 1 || options.ranks > kMaxMeetingRanks) {
    return Status::failure(hcommInvalidArgument,
                           "size is " + std::to_string(options.ranks) + "; legal are 1 to " + std::to_string(kMaxMeetingRanks));
  }
  if (options.rank < 0 || options.rank >= options.ranks) {
    return Status::failure(hcommInvalidArgument, "rank is " + std::to_string(options.rank) + "; with size " +
                                                     std::to_string(options.ranks) + " legal are 0 to " +
                                                     std::to_string(options.ranks - 1));
  }
  if (options.agreement.size() > kMaxAgreementBytes) {
    return Status::failure(hcommInvalidArgument, "the settings that ranks must agree on have " +
                                                     std::to_string(options.agreement.size()) + " bytes; at most " +
                                                     std::to_string(kMaxAgreementBytes) + " are legal");
  }
  if (options.addresses.size() > kMaxMemberAddresses) {
    return Status::failure(hcommInvalidArgument, std::to_string(options.addresses.size()) + " addresses; at most " +
                                                     std::to_string(kMaxMemberAddresses) + " are legal");
  }
  return {};
}

// Before the secret leaves this process: whoever listens must be of this user.
Status check_coordinator(const Descriptor& socket) {
  const std::optional<SocketPeer> peer = peer_process(socket);
  if (peer.has_value() && peer->uid == geteuid()) return {};
  const std::string who = peer.has_value() ? "user " + std::to_string(peer->uid) : "an unknown user";
  return Status::failure(hcommInvalidUsage, "the meeting is served by " + who + ", and this process runs as user " +
                                                std::to_string(geteuid()) + "; run all ranks as one user");
}

Result<Meeting> enter(Packet& packet, const Answer& answer, const JoinOptions& options, const Facts& self) {
  if (packet.descriptors_lost || !packet.descriptors[0].open() || !packet.descriptors[1].open()) {
    return Status::failure(hcommSystemError,
                           "this process has no free descriptors for the shared segment (raise the limit with ulimit -n)");
  }
  if (answer.ranks != options.ranks || answer.context != options.round) {
    return Status::failure(hcommRemoteError, "the coordinator answered for another meeting");
  }
  Result<std::vector<std::byte>> table = read_sealed(packet.descriptors[1], member_table_bytes(answer.ranks));
  if (!table.ok()) return std::move(table).status();
  Result<std::vector<Member>> members = parse_members(table.value(), answer.ranks);
  if (!members.ok()) return std::move(members).status().during("reading the table of members");
  if (members.value()[static_cast<std::size_t>(options.rank)].facts != self) {
    return Status::failure(hcommRemoteError, "the coordinator takes another process for this rank");
  }
  Meeting meeting;
  meeting.segment = std::move(packet.descriptors[0]);
  meeting.context = answer.context;
  meeting.members = std::move(members).value();
  meeting.local_ranks = local_group(meeting.members, options.rank);
  return meeting;
}

Status coordinator_ended() {
  return Status::failure(hcommRemoteError,
                         "the process that serves the meeting ended before all ranks had arrived, or this rank was refused");
}

void tell(const JoinOptions& options, TimeNs start, std::string_view news) {
  if (!options.progress) return;
  const std::string limit = options.timeout_ns == kNever ? "" : " of at most " + duration_text(options.timeout_ns);
  options.progress("rank " + std::to_string(options.rank) + " has waited for " +
                   duration_text((MonotonicClock().now() - start) / kSecond * kSecond) + limit + ": " + std::string(news));
}

// Waits for the answer, tells the user who is awaited, and gives up at the deadline.
class Waiter {
 public:
  Waiter(const Descriptor& socket, const JoinOptions& options, const Facts& self, TimeNs start)
      : socket_(socket), options_(options), self_(self), start_(start), deadline_(add_saturated(start, options.timeout_ns)),
        ask_at_(add_saturated(start, options.progress_every_ns)) {}

  Result<Meeting> run() {
    for (;;) {
      const TimeNs until = gave_up_ ? add_saturated(deadline_, kLastWordWithin) : std::min(deadline_, ask_at_);
      if (!wait_readable(socket_, until)) {
        if (gave_up_)
          return Status::failure(hcommTimeout, "the coordinator did not answer within " + duration_text(options_.timeout_ns));
        ask();
        continue;
      }
      Packet packet = receive_packet(socket_, buffer_);
      if (packet.state == Received::nothing) continue;
      if (packet.state == Received::end) return ended();
      Result<Answer> answer = parse_answer(packet.bytes);
      if (!answer.ok()) return std::move(answer).status().during("reading the coordinator's answer");
      switch (answer.value().kind) {
        case AnswerKind::news:    hear(answer.value().text); continue;
        case AnswerKind::over:    return over(answer.value());
        case AnswerKind::refusal: return Status::failure(answer.value().code, answer.value().text);
        case AnswerKind::welcome: return welcomed(packet, answer.value());
      }
    }
  }

  // This was not the meeting of ours, but one that is over.
  bool came_too_early() const { return too_early_; }

 private:
  void hear(const std::string& news) {
    has_arrived_ = true;
    if (!news.empty()) tell(options_, start_, news);
  }

  Status ended() {
    too_early_ = !has_arrived_;
    return coordinator_ended();
  }

  Status over(const Answer& answer) {
    too_early_ = true;
    return Status::failure(answer.code, answer.text);
  }

  Result<Meeting> welcomed(Packet& packet, const Answer& answer) {
    const TimeNs arrived = clock_.now();
    Result<Meeting> meeting = enter(packet, answer, options_, self_);
    if (meeting.ok()) meeting.value().times = {.arrived_ns = arrived - start_, .table_ns = clock_.now() - arrived};
    return meeting;
  }

  void ask() {
    const TimeNs now = clock_.now();
    gave_up_ = now >= deadline_;
    if (!gave_up_) ask_at_ = add_saturated(now, options_.progress_every_ns);
    const Ask question{.kind = gave_up_ ? AskKind::give_up : AskKind::who, .timeout_ns = options_.timeout_ns};
    send_packet(socket_, to_bytes(question));
  }

  const MonotonicClock clock_;
  const Descriptor& socket_;
  const JoinOptions& options_;
  const Facts& self_;
  const TimeNs start_;
  const TimeNs deadline_;
  TimeNs ask_at_;
  bool gave_up_ = false;
  bool has_arrived_ = false;  // as the coordinator said
  bool too_early_ = false;
  std::array<std::byte, kMaxMessageBytes + 1> buffer_;
};

// A connection to whoever serves the meeting.
Result<Descriptor> reach(const JobId& id, const JoinOptions& options, TimeNs start) {
  const TimeNs deadline = add_saturated(start, options.timeout_ns);
  if (options.server == Absent::is_an_error) return connect_to(id, deadline);
  TimeNs tell_at = start;
  for (;;) {
    tell_at = add_saturated(tell_at, options.progress_every_ns);
    Result<Descriptor> socket = connect_to(id, std::min(deadline, tell_at), Absent::may_come);
    if (socket.ok() || socket.status().code() != hcommTimeout) return socket;
    if (MonotonicClock().now() >= deadline) {
      return Status::failure(hcommTimeout, "rank 0, which serves the meeting, did not come within " +
                                               duration_text(options.timeout_ns) +
                                               " (did it start, on this host and as this user? HCOMM_CONNECT_TIMEOUT sets how "
                                               "long to wait)");
    }
    tell(options, start, "rank 0, which serves the meeting, has not come");
  }
}

// One attempt; `too_early`: another can be better.
Result<Meeting> attempt(const JobId& id, const JoinOptions& options, TimeNs start, bool& too_early) {
  too_early = false;
  Result<Descriptor> socket = reach(id, options, start);
  if (!socket.ok()) return std::move(socket).status();
  if (Status status = check_coordinator(socket.value()); !status.ok()) return status;
  Facts self = own_facts();
  self.host = options.host;
  self.addresses = options.addresses;
  const Hello hello{
      .round = options.round, .rank = options.rank, .ranks = options.ranks, .facts = self, .agreement = options.agreement};
  if (send_packet(socket.value(), to_bytes(hello, id)) != Sent::yes) {
    too_early = true;
    return coordinator_ended();
  }
  Waiter waiter(socket.value(), options, self, start);
  Result<Meeting> meeting = waiter.run();
  too_early = waiter.came_too_early();
  return meeting;
}

}  // namespace

Result<Meeting> join(const JobId& id, const JoinOptions& options) {
  constexpr TimeNs pause = 10 * kMillisecond;
  if (Status status = check(options); !status.ok()) return status;
  const TimeNs start = MonotonicClock().now();
  for (;;) {
    bool too_early = false;
    Result<Meeting> meeting = attempt(id, options, start, too_early);
    const bool in_time = MonotonicClock().now() < add_saturated(start, options.timeout_ns);
    if (meeting.ok() || !too_early || options.server == Absent::is_an_error || !in_time) return meeting;
    pause_for(pause);
  }
}

}  // namespace hcomm
