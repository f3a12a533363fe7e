#include "bootstrap/server.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string>

#include "net/mac.h"

namespace hcomm {
namespace {

constexpr TimeNs kLeaveWithin = 2 * kSecond;
constexpr TimeNs kHearOthersFor = 2 * kSecond;  // after ranks have contradicted each other
constexpr TimeNs kWelcomeWithin = 10 * kSecond;
constexpr TimeNs kProvedHelloWithin = 60 * kSecond;  // it holds the secret; its program may stand still for a while
constexpr TimeNs kRetryEvery = 5 * kMillisecond;
constexpr TimeNs kStrayWarningEvery = 5 * kSecond;

// The first line of a trail without its "[file:line]": what a person at the other end needs.
std::string headline(const Status& status) {
  std::string_view line = status.trail();
  line = line.substr(0, line.find('\n'));
  return std::string(line.substr(0, line.rfind(" [")));
}

Status decided_elsewhere(const Status& status) { return Status::failure(status.code(), headline(status)); }

}  // namespace

Server::Server(const JobId& id, CoordinatorOptions options)
    : id_(id), options_(std::move(options)), ledger_(options_.ranks, options_.many_rounds) {}

TimeNs Server::next_deadline() const {
  TimeNs next = kNever;
  for (const auto& [name, connection] : connections_) {
    if (connection.visitor.line->restless()) return 0;
    if (connection.stage == Stage::welcoming) return 0;  // the caller's shortest sleep: try again soon
    next = std::min(next, connection.deadline);
  }
  if (ended_at_ != kNever) next = std::min(next, add_saturated(ended_at_, options_.linger_ns));
  return next;
}

void Server::let_in(Visitor visitor, TimeNs now) {
  Connection connection;
  connection.deadline = now + (visitor.remote ? kProvedHelloWithin : options_.hello_timeout_ns);
  connection.visitor = std::move(visitor);
  connections_.emplace(next_name_++, std::move(connection));
  ++greeting_;
}

void Server::turn(TimeNs now) {
  // Handling one connection may end others, but never makes new ones.
  std::vector<int> restless;
  for (const auto& [name, connection] : connections_) {
    if (connection.visitor.line->restless()) restless.push_back(name);
  }
  for (const int name : restless) {
    int messages = 0;
    while (messages < kMaxMessagesInTurn && connections_.contains(name) && read(name, now)) ++messages;
  }
  expire(now);
}

// False when there is nothing more of it to hear.
bool Server::read(int name, TimeNs now) {
  std::array<std::byte, kMaxMessageBytes + 1> buffer;
  const Packet packet = connections_.at(name).visitor.line->receive(buffer);
  switch (packet.state) {
    case Received::nothing: return false;
    case Received::end:     lose(name, now); return false;
    case Received::packet:  hear(name, packet.bytes, now); return true;
  }
  unreachable();
}

void Server::hear(int name, ConstBytes message, TimeNs now) {
  switch (connections_.at(name).stage) {
    case Stage::greeting:  return hear_greeting(name, message, now);
    case Stage::waiting:
    case Stage::dissenting:
    case Stage::settling:  return hear_ask(name, message, now);
    case Stage::welcoming: return;  // a question that crossed the answer
    case Stage::leaving:   return;
  }
}

void Server::hear_greeting(int name, ConstBytes message, TimeNs now) {
  Connection& connection = connections_.at(name);
  const Result<Opening> opening = parse_opening(message);
  if (!opening.ok()) return lose(name, now);
  if (!connection.visitor.remote && !same_code(opening.value().secret, id_.secret)) {
    stray("with a wrong secret", now);
    return refuse(connection,
                  Status::failure(hcommInvalidArgument, "the id's secret is wrong: the id is damaged, or of another job"), now);
  }
  if (opening.value().version != kProtocolVersion) {
    const Status why = Status::failure(
        hcommMismatch, "a rank (pid " + std::to_string(connection.visitor.visible_pid) + ") speaks version " +
                           std::to_string(opening.value().version) + " of the meeting's protocol, the others version " +
                           std::to_string(kProtocolVersion) + "; use one build of hcomm for all ranks");
    refuse(connection, why, now);
    while (!ledger_.open_rounds().empty()) end_round(ledger_.open_rounds().begin()->first, why, now);
    return;
  }
  const Result<Hello> hello = parse_hello(message);
  if (!hello.ok()) return refuse(connection, decided_elsewhere(hello.status()), now);
  hear_hello(name, hello.value(), now);
}

void Server::hear_hello(int name, const Hello& hello, TimeNs now) {
  Connection& connection = connections_.at(name);
  const Visitor& visitor = connection.visitor;
  if (visitor.remote && visitor.claimed_rank != hello.rank) {
    return refuse(connection, Status::failure(hcommInvalidUsage, "a connection of rank " + std::to_string(visitor.claimed_rank) +
                                                                     " speaks for rank " + std::to_string(hello.rank)), now);
  }
  const Result<Round*> round = ledger_.find(hello);
  if (!round.ok()) {
    return refuse(connection, round.status(), now, ledger_.has_met(hello.round) ? AnswerKind::over : AnswerKind::refusal);
  }
  const Admission admission =
      round.value()->admit(hello, {.connection = name, .remote = visitor.remote, .visible_pid = visitor.visible_pid});
  if (admission.ends_the_round) return dissent(name, hello, admission.status, now);
  if (!admission.status.ok()) return refuse(connection, admission.status, now);
  --greeting_;
  connection.stage = Stage::waiting;
  connection.deadline = kNever;
  connection.round = hello.round;
  connection.rank = hello.rank;
  if (round.value()->all_have_come()) return complete_round(hello.round, now);
  if (options_.many_rounds) connection.visitor.line->send(to_bytes(Answer{}));
}

void Server::dissent(int name, const Hello& hello, const Status& why, TimeNs now) {
  Connection& connection = connections_.at(name);
  Round& round = *ledger_.open_round(hello.round);
  round.condemn(why.code(), headline(why), hello.rank, name);
  --greeting_;
  connection.stage = Stage::dissenting;
  connection.deadline = now + kHearOthersFor;
  connection.round = hello.round;
  connection.rank = hello.rank;
  if (round.all_have_come()) return end_round(hello.round, why, now);
  if (options_.many_rounds) connection.visitor.line->send(to_bytes(Answer{}));
}

void Server::hear_ask(int name, ConstBytes message, TimeNs now) {
  Connection& connection = connections_.at(name);
  const Result<Ask> heard = parse_ask(message);
  if (!heard.ok()) return lose(name, now);
  const Ask& ask = heard.value();
  const std::uint64_t number = connection.round;
  const Round& round = *ledger_.open_round(number);
  switch (ask.kind) {
    case AskKind::who: {
      const Answer news{.kind = AnswerKind::news, .text = round.news()};
      connection.visitor.line->send(to_bytes(news));  // lost if the asker does not read
      return;
    }
    case AskKind::give_up: return end_round(number, round.timed_out(ask.timeout_ns), now);
    case AskKind::failed:
      if (connection.stage != Stage::settling) return lose(name, now);
      return end_round(number, round.failed(connection.rank, ask.code, ask.text), now);
    case AskKind::settled: return connection.stage == Stage::settling ? settle(number, connection.rank, now) : lose(name, now);
  }
}

// The other end has closed, or does not speak our language.
void Server::lose(int name, TimeNs now) {
  const auto found = connections_.find(name);
  const Stage stage = found->second.stage;
  if (stage == Stage::greeting) {
    --greeting_;
    stray("that does not speak as a rank does", now);
  }
  if (stage == Stage::waiting || stage == Stage::settling || stage == Stage::dissenting) {
    const std::uint64_t number = found->second.round;
    const Round& round = *ledger_.open_round(number);
    return end_round(number, round.is_condemned() ? Status() : round.left(found->second.rank), now);  // closes it later, as all
  }
  connections_.erase(found);
}

void Server::refuse(Connection& connection, const Status& why, TimeNs now, AnswerKind kind) {
  if (connection.stage == Stage::greeting) --greeting_;
  const Answer answer{.kind = kind, .code = why.code(), .text = headline(why)};
  connection.visitor.line->send(to_bytes(answer));
  connection.stage = Stage::leaving;
  connection.deadline = now + kLeaveWithin;
}

// A round that is condemned ends for that reason, whatever happened since.
void Server::end_round(std::uint64_t number, const Status& reason, TimeNs now) {
  const Round& round = *ledger_.open_round(number);
  const Status why = round.is_condemned() ? round.condemned() : decided_elsewhere(reason);
  const std::vector<int> names = round.connections();
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
  if (ledger_.open_round(number)->is_condemned()) return end_round(number, {}, now);
  if (ledger_.open_round(number)->goes_on()) return send_routes(number, now);
  share_segment(number, now);
}

void Server::share_segment(std::uint64_t number, TimeNs now) {
  const Round& round = *ledger_.open_round(number);
  if (Status status = prepare_segment(round.ranks()); !status.ok()) return end_round(number, status, now);
  const Result<Descriptor> table = sealed_memory(options_.table.empty() ? to_bytes(round.members()) : options_.table);
  if (!table.ok()) return end_round(number, table.status(), now);
  for (const int name : round.connections()) {
    Connection& connection = connections_.at(name);
    connection.stage = Stage::welcoming;
    connection.deadline = now + kWelcomeWithin;
    connection.table = Descriptor(fcntl(table.value().get(), F_DUPFD_CLOEXEC, 3));
    welcome(connection, now);
  }
  ledger_.end(number, hcommSuccess, "");
  if (!options_.many_rounds) ended_at_ = now;
}

void Server::send_routes(std::uint64_t number, TimeNs now) {
  const Round& round = *ledger_.open_round(number);
  const std::vector<std::byte> table = to_bytes(round.members());
  const Result<Descriptor> sealed = sealed_memory(table);
  if (!sealed.ok()) return end_round(number, sealed.status(), now);
  const std::vector<Route> routes = routes_of(round.seats());
  for (const int name : round.connections()) {
    Connection& connection = connections_.at(name);
    Line& line = *connection.visitor.line;
    const Route& route = routes[static_cast<std::size_t>(connection.rank)];
    const std::vector<std::byte> answer = to_bytes(
        Answer{.kind = AnswerKind::welcome, .ranks = round.ranks(), .context = number, .route = route});
    connection.stage = Stage::settling;
    const bool has_source = route.source != kFromCoordinator;
    const int descriptor = sealed.value().get();
    // What does not arrive is missed by its rank, who says so.
    line.send(answer, has_source || connection.visitor.remote ? std::span<const int>() : std::span(&descriptor, 1));
    if (!has_source && connection.visitor.remote) line.send(table_message(number, table));
  }
}

void Server::settle(std::uint64_t number, int rank, TimeNs now) {
  Round& round = *ledger_.open_round(number);
  round.settle(rank);
  if (!round.all_settled()) return;
  const std::vector<int> names = round.connections();
  ledger_.end(number, hcommSuccess, "");
  if (!options_.many_rounds) ended_at_ = now;
  for (const int name : names) {
    Connection& connection = connections_.at(name);
    connection.visitor.line->send(to_bytes(Answer{.kind = AnswerKind::met}));
    connection.stage = Stage::leaving;
    connection.deadline = now + kLeaveWithin;
  }
}

void Server::welcome(Connection& connection, TimeNs now) {
  const Answer answer{.kind = AnswerKind::welcome, .ranks = ledger_.ranks(), .context = connection.round};
  const std::array descriptors = {segment_.get(), connection.table.get()};
  switch (connection.visitor.line->send(to_bytes(answer), descriptors)) {
    case Sent::later: return;
    case Sent::yes:
    case Sent::never: break;  // it died; its peers will notice on their own
  }
  connection.table.reset();
  connection.stage = Stage::leaving;
  connection.deadline = now + kLeaveWithin;
}

void Server::expire(TimeNs now) {
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto current = next++;
    Connection& connection = current->second;
    if (connection.stage == Stage::welcoming) welcome(connection, now);
    if (now < connection.deadline) continue;
    if (connection.stage == Stage::greeting) {
      --greeting_;
      stray("that says nothing", now);
    }
    if (connection.stage == Stage::dissenting) end_round(connection.round, {}, now);  // it leaves, with the others
    else connections_.erase(current);  // never one that waits: it has no deadline
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
  segment_.reset();
  connections_.clear();
}

void Server::close_in_child() {
  segment_.reset();
  for (auto& [name, connection] : connections_) {
    connection.visitor.line->close_in_child();
    connection.table.reset();
  }
}

}  // namespace hcomm
