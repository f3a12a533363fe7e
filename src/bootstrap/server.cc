#include "bootstrap/server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace hcomm {
namespace {

constexpr TimeNs kLeaveWithin = 2 * kSecond;
constexpr TimeNs kWelcomeWithin = 10 * kSecond;
constexpr TimeNs kRetryEvery = 5 * kMillisecond;
constexpr TimeNs kRestAfterFailedAccept = 50 * kMillisecond;
constexpr TimeNs kStrayWarningEvery = 5 * kSecond;

// The first line of a trail without its "[file:line]": what a person at the other end needs.
std::string headline(const Status& status) {
  std::string_view line = status.trail();
  line = line.substr(0, line.find('\n'));
  return std::string(line.substr(0, line.rfind(" [")));
}

Status decided_elsewhere(const Status& status) { return Status::failure(status.code(), headline(status)); }

}  // namespace

Server::Server(const JobId& id, Descriptor listener, CoordinatorOptions options)
    : id_(id), options_(std::move(options)), listener_(std::move(listener)), ledger_(options_.ranks, options_.many_rounds) {}

void Server::list_descriptors(std::vector<pollfd>& items) const {
  const bool rests = greeting_ >= kMaxGreeting || listener_rests_until_ > 0;
  items.push_back({rests ? -1 : listener_.get(), POLLIN, 0});
  for (const auto& [name, connection] : connections_) items.push_back({connection.socket.get(), POLLIN, 0});
}

TimeNs Server::next_deadline() const {
  TimeNs next = listener_rests_until_ > 0 ? listener_rests_until_ : kNever;
  for (const auto& [name, connection] : connections_) {
    if (connection.stage == Stage::welcoming) return 0;  // the caller's shortest sleep: try again soon
    next = std::min(next, connection.deadline);
  }
  if (ended_at_ != kNever) next = std::min(next, add_saturated(ended_at_, options_.linger_ns));
  return next;
}

void Server::turn(const std::vector<pollfd>& items, TimeNs now) {
  // Connections are named in the order of the list; handling one may end others, but never makes new ones.
  std::vector<int> ready;
  auto item = items.begin() + 1;
  for (const auto& [name, connection] : connections_) {
    if ((item++)->revents != 0) ready.push_back(name);
  }
  for (const int name : ready) {
    if (connections_.contains(name)) read(name, now);
  }
  if (items.front().revents != 0) accept_all(now);
  expire(now);
}

void Server::accept_all(TimeNs now) {
  while (greeting_ < kMaxGreeting) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      if (options_.warn) options_.warn(std::string("cannot accept a rank: ") + std::strerror(errno) + "; trying again");
      listener_rests_until_ = now + kRestAfterFailedAccept;
      return;
    }
    const std::optional<SocketPeer> peer = peer_process(socket);
    if (!peer.has_value() || peer->uid != geteuid()) {
      stray("of another user", now);
      continue;
    }
    Connection connection;
    connection.socket = std::move(socket);
    connection.deadline = now + options_.hello_timeout_ns;
    connection.visible_pid = peer->pid;
    connections_.emplace(next_name_++, std::move(connection));
    ++greeting_;
  }
}

void Server::read(int name, TimeNs now) {
  std::array<std::byte, kMaxMessageBytes + 1> buffer;
  Connection& connection = connections_.at(name);
  const Packet packet = receive_packet(connection.socket, buffer);
  switch (packet.state) {
    case Received::nothing: return;
    case Received::end:     return lose(name, now);
    case Received::packet:  break;
  }
  switch (connection.stage) {
    case Stage::greeting:  return hear_greeting(name, packet.bytes, now);
    case Stage::waiting:   return hear_ask(name, packet.bytes, now);
    case Stage::welcoming: return;  // a question that crossed the answer
    case Stage::leaving:   return;
  }
}

void Server::hear_greeting(int name, ConstBytes packet, TimeNs now) {
  Connection& connection = connections_.at(name);
  const Result<Greeting> greeting = parse_greeting(packet);
  if (!greeting.ok()) return lose(name, now);
  if (!same_secret(greeting.value().secret, id_.secret)) {
    stray("with a wrong secret", now);
    return refuse(connection,
                  Status::failure(hcommInvalidArgument, "the id's secret is wrong: the id is damaged, or of another job"), now);
  }
  if (greeting.value().version != kProtocolVersion) {
    const Status why = Status::failure(
        hcommMismatch, "a rank (pid " + std::to_string(connection.visible_pid) + ") speaks version " +
                           std::to_string(greeting.value().version) + " of the meeting's protocol, the others version " +
                           std::to_string(kProtocolVersion) + "; use one build of hcomm for all ranks");
    refuse(connection, why, now);
    while (!ledger_.open_rounds().empty()) end_round(ledger_.open_rounds().begin()->first, why, now);
    return;
  }
  const Result<Hello> hello = parse_hello(packet);
  if (!hello.ok()) return refuse(connection, hello.status(), now);
  hear_hello(name, hello.value(), now);
}

void Server::hear_hello(int name, const Hello& hello, TimeNs now) {
  Connection& connection = connections_.at(name);
  const Result<Round*> round = ledger_.find(hello);
  if (!round.ok()) {
    return refuse(connection, round.status(), now, ledger_.has_met(hello.round) ? AnswerKind::over : AnswerKind::refusal);
  }
  const Admission admission = round.value()->admit(hello, connection.visible_pid, name);
  if (!admission.status.ok()) {
    refuse(connection, admission.status, now);
    if (admission.ends_the_round) end_round(hello.round, admission.status, now);
    return;
  }
  --greeting_;
  connection.stage = Stage::waiting;
  connection.deadline = kNever;
  connection.round = hello.round;
  connection.rank = hello.rank;
  if (round.value()->complete()) return complete_round(hello.round, now);
  if (options_.many_rounds) send_packet(connection.socket, to_bytes(Answer{}));
}

void Server::hear_ask(int name, ConstBytes packet, TimeNs now) {
  Connection& connection = connections_.at(name);
  const Result<Ask> ask = parse_ask(packet);
  if (!ask.ok()) return lose(name, now);
  const Round& round = *ledger_.open_round(connection.round);
  if (ask.value().kind == AskKind::give_up) return end_round(connection.round, round.timed_out(ask.value().timeout_ns), now);
  const Answer news{.kind = AnswerKind::news, .text = round.arrived_text() + "; missing: " + round.missing_text()};
  send_packet(connection.socket, to_bytes(news));  // lost if the asker does not read
}

// The other end has closed, or does not speak our language.
void Server::lose(int name, TimeNs now) {
  const auto found = connections_.find(name);
  const Stage stage = found->second.stage;
  if (stage == Stage::greeting) {
    --greeting_;
    stray("that does not speak as a rank does", now);
  }
  if (stage == Stage::waiting) {
    const std::uint64_t number = found->second.round;
    return end_round(number, ledger_.open_round(number)->left(found->second.rank), now);  // closes it later, as all of the round
  }
  connections_.erase(found);
}

void Server::refuse(Connection& connection, const Status& why, TimeNs now, AnswerKind kind) {
  if (connection.stage == Stage::greeting) --greeting_;
  const Answer answer{.kind = kind, .code = why.code(), .text = headline(why)};
  send_packet(connection.socket, to_bytes(answer));
  connection.stage = Stage::leaving;
  connection.deadline = now + kLeaveWithin;
}

void Server::end_round(std::uint64_t number, const Status& why, TimeNs now) {
  const std::vector<int> names = ledger_.open_round(number)->connections();
  ledger_.end(number, why.code(), headline(why));
  for (const int name : names) refuse(connections_.at(name), decided_elsewhere(why), now);
  if (!options_.many_rounds) ended_at_ = now;
}

Status Server::prepare_segment(int ranks) {
  if (segment_.open()) return {};
  Result<int> made = options_.make_segment(ranks);
  if (!made.ok()) return std::move(made).status();
  segment_ = Descriptor(made.value());
  return {};
}

void Server::complete_round(std::uint64_t number, TimeNs now) {
  const Round& round = *ledger_.open_round(number);
  if (Status status = prepare_segment(round.ranks()); !status.ok()) return end_round(number, status, now);
  const Result<Descriptor> table = sealed_memory(to_bytes(round.members()));
  if (!table.ok()) return end_round(number, table.status(), now);
  const std::vector<int> names = round.connections();
  for (const int name : names) {
    Connection& connection = connections_.at(name);
    connection.stage = Stage::welcoming;
    connection.deadline = now + kWelcomeWithin;
    connection.table = Descriptor(fcntl(table.value().get(), F_DUPFD_CLOEXEC, 3));
    welcome(connection, now);
  }
  ledger_.end(number, hcommSuccess, "");
  if (!options_.many_rounds) ended_at_ = now;
}

void Server::welcome(Connection& connection, TimeNs now) {
  const Answer answer{.kind = AnswerKind::welcome, .ranks = ledger_.ranks(), .context = connection.round};
  const std::array descriptors = {segment_.get(), connection.table.get()};
  switch (send_packet(connection.socket, to_bytes(answer), descriptors)) {
    case Sent::later: return;
    case Sent::yes:
    case Sent::never: break;  // it died; its peers will notice on their own
  }
  connection.table.reset();
  connection.stage = Stage::leaving;
  connection.deadline = now + kLeaveWithin;
}

void Server::expire(TimeNs now) {
  if (now >= listener_rests_until_) listener_rests_until_ = 0;
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto current = next++;
    Connection& connection = current->second;
    if (connection.stage == Stage::welcoming) welcome(connection, now);
    if (now < connection.deadline) continue;
    if (connection.stage == Stage::greeting) {
      --greeting_;
      stray("that says nothing", now);
    }
    connections_.erase(current);  // never one that waits: it has no deadline
  }
}

void Server::stray(std::string_view what, TimeNs now) {
  ++strays_unreported_;
  if (now < add_saturated(stray_warned_at_, kStrayWarningEvery) || !options_.warn) return;
  const std::string others =
      strays_unreported_ > 1 ? " (and " + std::to_string(strays_unreported_ - 1) + " more since the last warning)" : "";
  options_.warn("dropped a connection " + std::string(what) + others);
  stray_warned_at_ = now;
  strays_unreported_ = 0;
}

bool Server::finished(TimeNs now) const {
  if (ended_at_ == kNever || !connections_.empty()) return false;
  return ledger_.outcome() == hcommSuccess || now >= add_saturated(ended_at_, options_.linger_ns);
}

void Server::close_all() {
  listener_.reset();
  segment_.reset();
  for (auto& [name, connection] : connections_) {
    connection.socket.reset();
    connection.table.reset();
  }
}

}  // namespace hcomm
