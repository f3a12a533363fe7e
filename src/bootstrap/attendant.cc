#include "bootstrap/attendant.h"

#include <algorithm>
#include <array>

#include "bootstrap/round.h"

namespace hcomm {
namespace {

// After giving up, how long the coordinator has to say why the meeting ends.
constexpr TimeNs kLastWordWithin = 2 * kSecond;
constexpr TimeNs kComeAgainAfter = 10 * kMillisecond;

Status coordinator_ended() {
  return Status::failure(hcommRemoteError,
                         "the process that serves the meeting ended before all ranks had arrived, or this rank was refused");
}

Status no_descriptors() {
  return Status::failure(hcommSystemError,
                         "this process has no free descriptors for the shared segment (raise the limit with ulimit -n)");
}

// A job that has addresses is met over the network by whoever is told to be elsewhere.
bool may_share_a_socket(const JobId& id, const JoinOptions& options) {
  return id.at.empty() || !options.host_is_told || options.host == id.host;
}

}  // namespace

Attendant::Attendant(Network& network, KernelNetwork* sockets, const JobId& id, const JoinOptions& options,
                     int table_ranks)
    : network_(network), id_(id), options_(options), self_(own_facts()),
      approach_(network, sockets, id,
                {.rank = options.rank,
                 .ranks = options.ranks,
                 .by_unix = may_share_a_socket(id, options),
                 .server = options.server}),
      table_ranks_(table_ranks), start_(network.clock().now()), deadline_(add_saturated(start_, options.timeout_ns)),
      ask_at_(add_saturated(start_, options.progress_every_ns)), stage_began_(start_) {
  self_.addresses = options.addresses;
  self_.cores = options.cores;
  self_.store = options.store;
}

void Attendant::end(Status why) {
  failure_ = std::move(why);
  stage_ = Stage::ended;
}

void Attendant::come(TimeNs now) {
  if (now < come_at_) return;
  Result<std::unique_ptr<Line>> line = approach_.step();
  if (!line.ok()) return end(std::move(line).status());
  if (line.value() == nullptr) return;
  coordinator_ = std::move(line).value();
  greet(now);
}

void Attendant::greet(TimeNs now) {
  const bool remote = approach_.remote();
  self_.host = remote || options_.host_is_told ? options_.host : id_.host;
  Hello hello{.round = options_.round,
              .rank = options_.rank,
              .ranks = options_.ranks,
              .facts = self_,
              .meets_at = {},
              .agreement = options_.agreement};
  if (remote && !options_.listen_at.empty()) {
    Result<std::unique_ptr<TcpDoor>> door =
        TcpDoor::open(network_, id_, {.at = options_.listen_at, .ports = options_.ports, .rank = options_.rank});
    if (!door.ok()) return end(std::move(door).status().during("listening for ranks that fetch the table of members here"));
    handout_.emplace(std::move(door).value());
    hello.meets_at = handout_->addresses();
  }
  if (coordinator_->send(to_bytes(hello, remote ? JobId{}.secret : id_.secret)) != Sent::yes) {
    return come_again(coordinator_ended(), now);
  }
  stage_ = Stage::waiting;
  stage_began_ = now;
}

void Attendant::lose_coordinator(TimeNs now) {
  if (stage_ == Stage::leaving) return end(std::move(failure_));
  return has_arrived_ ? end(coordinator_ended()) : come_again(coordinator_ended(), now);
}

// What was reached was a meeting that is over: one of the program that ran before this one in the same run.
void Attendant::come_again(Status why, TimeNs now) {
  if (options_.server == Absent::is_an_error || stage_ == Stage::leaving) return end(std::move(why));
  coordinator_.reset();
  handout_.reset();
  stage_ = Stage::coming;
  come_at_ = add_saturated(now, kComeAgainAfter);
  approach_.again();
}

void Attendant::listen_to_coordinator(TimeNs now) {
  std::array<std::byte, kMaxMessageBytes + 1> buffer;
  while (stage_ != Stage::ended && coordinator_ != nullptr && coordinator_->restless()) {
    Packet packet = coordinator_->receive(buffer);
    if (packet.state == Received::nothing) return;
    if (packet.state == Received::end) return lose_coordinator(now);
    hear(packet, now);
  }
}

void Attendant::hear(Packet& packet, TimeNs now) {
  const bool awaits_table = stage_ == Stage::fetching && route_->source == kFromCoordinator && table_.empty();
  if (awaits_table && is_table_message(packet.bytes)) return take_table(packet.bytes, now);
  Result<Answer> answer = parse_answer(packet.bytes);
  if (!answer.ok()) return end(std::move(answer).status().during("reading the coordinator's answer"));
  hear_answer(packet, answer.value(), now);
}

void Attendant::hear_answer(Packet& packet, const Answer& answer, TimeNs now) {
  switch (answer.kind) {
    case AnswerKind::news:
      has_arrived_ = true;
      if (!answer.text.empty()) tell(answer.text, now);
      return;
    case AnswerKind::over:    return come_again(Status::failure(answer.code, answer.text), now);
    case AnswerKind::refusal: return end(Status::failure(answer.code, answer.text));
    case AnswerKind::welcome:
      if (answer.ranks != options_.ranks || answer.context != options_.round || route_.has_value()) {
        return end(Status::failure(hcommRemoteError, "the coordinator answered for another meeting"));
      }
      has_arrived_ = true;
      meeting_.context = answer.context;
      meeting_.times.arrived_ns = now - start_;
      stage_began_ = now;
      if (!answer.route.has_value()) return enter(packet, now);
      if (stage_ == Stage::waiting) take_route(packet, *answer.route, now);  // else it has given up, and will hear of that
      return;
    case AnswerKind::met:
      if (stage_ != Stage::settling) {
        return end(Status::failure(hcommRemoteError, "the coordinator ended the meeting too early"));
      }
      meeting_.times.segment_ns = now - stage_began_;
      return end({});
  }
}

// All ranks came over Unix sockets: the segment and the table are in the packet.
void Attendant::enter(Packet& packet, TimeNs now) {
  if (packet.descriptors_lost || !packet.descriptors[0].open() || !packet.descriptors[1].open()) return end(no_descriptors());
  const int members = table_ranks_ > 0 ? table_ranks_ : options_.ranks;
  Result<std::vector<std::byte>> table = read_sealed(packet.descriptors[1], member_table_bytes(members));
  if (!table.ok()) return end(std::move(table).status());
  table_ = std::move(table).value();
  if (table_ranks_ > 0) {
    meeting_.segment = std::move(packet.descriptors[0]);
    return end({});
  }
  if (Status status = read_members(); !status.ok()) return end(std::move(status));
  meeting_.segment = std::move(packet.descriptors[0]);
  meeting_.times.table_ns = network_.clock().now() - now;
  end({});
}

Status Attendant::read_members() {
  Result<std::vector<Member>> members = parse_members(table_, options_.ranks);
  if (!members.ok()) return std::move(members).status().during("reading the table of members");
  if (members.value()[static_cast<std::size_t>(options_.rank)].facts != self_) {
    return Status::failure(hcommRemoteError, "the coordinator takes another process for this rank");
  }
  meeting_.members = std::move(members).value();
  meeting_.local_ranks = local_group(meeting_.members, options_.rank);
  return {};
}

void Attendant::take_route(Packet& packet, const Route& route, TimeNs now) {
  route_ = route;
  stage_ = Stage::fetching;
  shared_ = route.group == 1;
  if (route.source >= 0) dial_source();
  if (route.source != kFromCoordinator || approach_.remote()) return;
  if (packet.descriptors_lost || !packet.descriptors[0].open()) return end(no_descriptors());
  Result<std::vector<std::byte>> table = read_sealed(packet.descriptors[0], member_table_bytes(options_.ranks));
  if (!table.ok()) return end(std::move(table).status());
  take_table(table_message(meeting_.context, table.value()), now);
}

void Attendant::dial_source() {
  const Claim claim{.job = id_.name, .purpose = Purpose::meeting, .from = options_.rank, .to = route_->source};
  source_.reset();
  const DialPlan plan{.addresses = route_->source_at, .keeps_trying = true};
  dialer_.emplace(network_, id_.secret, claim, plan, static_cast<Watcher&>(*this));
}

void Attendant::take_table(ConstBytes message, TimeNs now) {
  const Result<ConstBytes> table = parse_table_message(message, meeting_.context);
  if (!table.ok()) return give_up_because(table.status(), now);
  table_.assign(table.value().begin(), table.value().end());
  if (Status status = read_members(); !status.ok()) return give_up_because(status, now);
  meeting_.times.table_ns = now - stage_began_;
  stage_began_ = now;
  dialer_.reset();
  source_.reset();
  if (handout_.has_value()) handout_->give(route_->feeds, table_message(meeting_.context, table_));
}

// From the rank before this one in the tree. Should its connection end early, it is dialled again: if it has died, the
// coordinator says so to all.
void Attendant::fetch_from_rank(TimeNs now) {
  if (!dialer_.has_value()) return;
  if (source_ == nullptr) {
    dialer_->expire(now);
    if (dialer_->state() == Dialer::State::failed) {
      const std::string whom = "fetching the table of members from rank " + std::to_string(route_->source);
      return give_up_because(dialer_->failure().during(whom), now);
    }
    if (dialer_->state() != Dialer::State::connected) return;
    source_ = std::make_unique<FrameLine>(dialer_->take(), table_message_bytes(options_.ranks));
  }
  std::array<std::byte, 1> scratch;
  const Packet packet = source_->receive(scratch);
  if (packet.state == Received::end) dial_source();
  if (packet.state == Received::packet) take_table(packet.bytes, now);
}

bool Attendant::wants_share() const {
  return stage_ == Stage::fetching && !shared_ && (route_->place != 0 || !table_.empty());
}

void Attendant::share(Descriptor segment, std::vector<std::byte> table) {
  HCOMM_ASSERT(wants_share());
  meeting_.segment = std::move(segment);
  shared_ = true;
  got_more_ = true;
  if (route_->place != 0) take_table(table_message(meeting_.context, table), network_.clock().now());
}

void Attendant::cannot_share(const Status& why) { give_up_because(why, network_.clock().now()); }

void Attendant::settle_if_ready() {
  if (stage_ != Stage::fetching || table_.empty() || !shared_ || (handout_.has_value() && !handout_->done())) return;
  coordinator_->send(to_bytes(Ask{.kind = AskKind::settled}));
  stage_ = Stage::settling;
}

// The coordinator has the last word, for it knows more; this rank's own is for when it has none.
void Attendant::give_up(const Ask& last_word, Status own_word, TimeNs now) {
  coordinator_->send(to_bytes(last_word));
  failure_ = std::move(own_word);
  stage_ = Stage::leaving;
  last_word_until_ = add_saturated(now, kLastWordWithin);
}

void Attendant::give_up_because(const Status& why, TimeNs now) {
  const std::string_view trail = why.trail();
  const Ask last_word{.kind = AskKind::failed, .code = why.code(), .text = std::string(trail.substr(0, trail.find('\n')))};
  give_up(last_word, Status::failure(why.code(), trail), now);
}

void Attendant::keep_time(TimeNs now) {
  switch (stage_) {
    case Stage::coming:
      if (now >= deadline_) {
        return end(Status::failure(hcommTimeout, whom_it_seeks() + " within " + duration_text(options_.timeout_ns) + ": " +
                                                     approach_.story() +
                                                     " (did it start? HCOMM_CONNECT_TIMEOUT sets how long to wait)"));
      }
      if (now < ask_at_) return;
      ask_at_ = add_saturated(now, options_.progress_every_ns);
      return tell(whom_it_seeks() + " yet: " + approach_.story(), now);
    case Stage::waiting:
    case Stage::fetching:
    case Stage::settling:
      if (now >= deadline_) {
        const Ask last_word{.kind = AskKind::give_up, .timeout_ns = options_.timeout_ns};
        return give_up(last_word, Status::failure(hcommTimeout, "the coordinator did not answer within " +
                                                                    duration_text(options_.timeout_ns)), now);
      }
      if (now < ask_at_) return;
      ask_at_ = add_saturated(now, options_.progress_every_ns);
      coordinator_->send(to_bytes(Ask{.kind = AskKind::who}));
      return;
    case Stage::leaving:
      if (now >= last_word_until_) end(std::move(failure_));
      return;
    case Stage::ended: return;
  }
}

std::string Attendant::whom_it_seeks() const {
  return options_.server == Absent::may_come ? "rank 0, which serves the meeting, did not come" : "the meeting was not reached";
}

void Attendant::tell(std::string_view news, TimeNs now) const {
  if (!options_.progress) return;
  const std::string limit = deadline_ == kNever ? "" : " of at most " + duration_text(options_.timeout_ns);
  options_.progress("rank " + std::to_string(options_.rank) + " has waited for " +
                    duration_text((now - start_) / kSecond * kSecond) + limit + ": " + std::string(news));
}

void Attendant::step() {
  if (stage_ == Stage::coming) come(network_.clock().now());
  if (stage_ == Stage::ended) return;
  const TimeNs now = network_.clock().now();
  got_more_ = false;
  if (coordinator_ != nullptr) listen_to_coordinator(now);
  if (stage_ == Stage::fetching) fetch_from_rank(now);
  if (handout_.has_value()) handout_->step(now);
  settle_if_ready();
  keep_time(now);
}

TimeNs Attendant::next_deadline() const {
  TimeNs next = kNever;
  switch (stage_) {
    case Stage::coming:   next = std::min({deadline_, ask_at_, std::max(come_at_, approach_.next_deadline())}); break;
    case Stage::waiting:
    case Stage::fetching:
    case Stage::settling: next = std::min(deadline_, ask_at_); break;
    case Stage::leaving:  next = last_word_until_; break;
    case Stage::ended:    return 0;
  }
  if (got_more_ || (coordinator_ != nullptr && coordinator_->restless())) return 0;
  if (handout_.has_value()) next = std::min(next, handout_->next_deadline());
  if (dialer_.has_value() && source_ == nullptr) next = std::min(next, dialer_->next_time());
  return next;
}

Result<Meeting> Attendant::take() {
  HCOMM_ASSERT(stage_ == Stage::ended);
  if (!failure_.ok()) return std::move(failure_);
  return std::move(meeting_);
}

}  // namespace hcomm
