#include "net/acceptor.h"

#include <algorithm>

#include "net/interfaces.h"

namespace hcomm {

// One that has connected and is to prove itself.
struct Acceptor::Guest final : Watcher {
  Guest(Acceptor& its_acceptor, TimeNs now) : acceptor(its_acceptor), since(now) {}

  void ready() override { acceptor.serve(*this); }

  Acceptor& acceptor;
  const TimeNs since;
  std::unique_ptr<Greeting> greeting;
  Guests::iterator place;
  bool let_in = false;  // it has proved itself and was judged
};

namespace {

constexpr int kMostOfATurn = 64;  // connections; then whoever turns the network has other things to do

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::listen(Network& network, const Address& at, const Secret& secret, Host& host,
                                                   const AcceptorLimits& limits) {
  HCOMM_ASSERT(limits.most > 0);
  std::unique_ptr<Acceptor> acceptor(new Acceptor(network, secret, host, limits));
  Result<std::unique_ptr<Listener>> listener = listen_in_range(network, at, limits.ports, acceptor->door_);
  if (!listener.ok()) return std::move(listener).status();
  acceptor->listener_ = std::move(listener).value();
  return acceptor;
}

Acceptor::Acceptor(Network& network, const Secret& secret, Host& host, const AcceptorLimits& limits)
    : network_(network), secret_(secret), host_(host), limits_(limits) {}

Acceptor::~Acceptor() = default;

void Acceptor::let_in() {
  const TimeNs now = network_.clock().now();
  queue_waits_ = true;
  for (int taken = 0; taken < kMostOfATurn && (guests_.size() < limits_.most || make_room(now)); ++taken) {
    guests_.emplace_back(*this, now);
    Guest& guest = guests_.back();
    guest.place = std::prev(guests_.end());
    std::unique_ptr<Stream> stream = listener_->accept(guest);
    if (stream == nullptr) {
      guests_.pop_back();
      queue_waits_ = false;
      return;
    }
    guest.greeting = std::make_unique<Greeting>(std::move(stream), Handshake::acceptor(secret_));
    serve(guest);
  }
}

// The oldest that has not proved itself goes, once it has had its time.
bool Acceptor::make_room(TimeNs now) {
  const auto oldest = std::ranges::find_if(guests_, [](const Guest& guest) { return !guest.let_in; });
  if (oldest == guests_.end() || now < add_saturated(oldest->since, limits_.grace)) return false;
  Greeting& greeting = *oldest->greeting;
  if (greeting.handshake().state() == Handshake::State::running) {
    greeting.handshake().refuse(Refusal::full);
    greeting.pump();
  }
  count(Refusal::full, greeting.stream().peer(), text(Refusal::full), now);
  guests_.erase(oldest);
  return true;
}

void Acceptor::serve(Guest& guest) {
  Greeting& greeting = *guest.greeting;
  greeting.pump();
  if (greeting.handshake().state() == Handshake::State::asks) {
    const Refusal refusal = host_.judge(greeting.handshake().claim());
    if (refusal == Refusal::none) {
      greeting.handshake().accept();
      guest.let_in = true;
    } else {
      greeting.handshake().refuse(refusal);
    }
    greeting.pump();
  }
  if (greeting.done()) {
    const Claim claim = greeting.handshake().claim();
    std::unique_ptr<Stream> stream = greeting.take();
    remove(guest);
    host_.arrived(claim, std::move(stream));
  } else if (greeting.over()) {
    // A duplicate is how two ends that connect at once come to agree, and of who is gone has been spoken: no reason for a line.
    const Refusal refusal = greeting.handshake().refusal();
    const bool is_usual = refusal == Refusal::duplicate || refusal == Refusal::gone;
    if (!is_usual) count(refusal, greeting.stream().peer(), greeting.why(), network_.clock().now());
    remove(guest);
  }
}

// Takes a guest off who has arrived, or who goes away with its claim.
void Acceptor::remove(Guest& guest) {
  const bool was_let_in = guest.let_in && !guest.greeting->done();
  const Claim claim = guest.greeting->handshake().claim();
  guests_.erase(guest.place);
  if (was_let_in) host_.lost(claim);
}

void Acceptor::expire(TimeNs now) {
  while (!guests_.empty() && now >= add_saturated(guests_.front().since, limits_.deadline)) {
    Guest& oldest = guests_.front();
    serve(oldest);  // it may have said in the meantime what was missing
    if (guests_.empty() || &guests_.front() != &oldest) continue;
    const bool spoke = oldest.greeting->handshake().heard();
    count(Refusal::none, oldest.greeting->stream().peer(), spoke ? "its proof did not come in time" : "it said nothing", now);
    remove(oldest);
  }
  if (queue_waits_) let_in();
  report_if_due(now);
}

TimeNs Acceptor::next_time() const {
  TimeNs next = unreported_ > 0 ? next_report_ : kNever;
  if (!guests_.empty()) next = std::min(next, add_saturated(guests_.front().since, limits_.deadline));
  if (queue_waits_ && guests_.size() < limits_.most) return 0;
  if (queue_waits_) {
    const auto oldest = std::ranges::find_if(guests_, [](const Guest& guest) { return !guest.let_in; });
    if (oldest != guests_.end()) next = std::min(next, add_saturated(oldest->since, limits_.grace));
  }
  return next;
}

void Acceptor::count(Refusal why, const Address& peer, std::string_view reason, TimeNs now) {
  ++turned_away_;
  ++by_reason_[static_cast<std::size_t>(why)];
  ++unreported_;
  last_reason_ = text(peer) + ": " + std::string(reason);
  report_if_due(now);
}

void Acceptor::report_if_due(TimeNs now) {
  if (unreported_ == 0 || now < next_report_) return;
  const std::string line = "turned away " + std::to_string(unreported_) + (unreported_ == 1 ? " connection" : " connections") +
                           " at " + text(address()) + "; the last from " + last_reason_;
  unreported_ = 0;
  next_report_ = add_saturated(now, kReportInterval);
  host_.report(line);
}

}  // namespace hcomm
