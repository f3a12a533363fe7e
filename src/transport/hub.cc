#include "transport/hub.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hcomm {
namespace {

constexpr std::size_t kReadBuffer = 64 << 10;
constexpr TimeNs kTendEvery = 50 * kMillisecond;   // deadlines of handshakes
constexpr TimeNs kLongestFarewell = kSecond;       // without any more of what was sent arriving,
constexpr TimeNs kLongestFarewells = 5 * kSecond;  // and in all
constexpr TimeNs kLongestCall = 400 * kMillisecond;  // for peers who are to hear of a failure and have no link yet
// Who listens no more may have ended because of a failure, of which others will tell soon.
constexpr TimeNs kGraceOfTheGone = kSecond;
constexpr int kMostTurnsToTheEnd = 16;  // more than the system holds for a connection

}  // namespace

Hub::Hub(HubOptions options)
    : job_(options.job),
      secret_(options.secret),
      self_(options.rank),
      network_(std::move(options.network)),
      bell_(std::move(options.bell)),
      in_child_(std::move(options.in_child)),
      unreachable_after_(options.unreachable_after),
      peers_(static_cast<std::size_t>(options.ranks)),
      buffer_(kReadBuffer) {}

// A connection that is closed while bytes of the peer are unread takes with it what has not arrived yet.
Hub::~Hub() {
  if (abandoned_) return;
  std::unique_lock lock(mutex_);
  settle(lock, kLongestFarewell, Until::arrived);
}

void Hub::abandon_in_child() {
  abandoned_ = true;
  if (in_child_) in_child_();
}

void Hub::set_peers(std::vector<std::vector<Address>> peers) {
  {
    const std::lock_guard lock(mutex_);
    HCOMM_ASSERT(peers.size() == peers_.size());
    for (std::size_t rank = 0; rank < peers.size(); ++rank) meet_again(static_cast<int>(rank), std::move(peers[rank]));
  }
  network_->wake();  // a sleeper may have news of what was read here
  changed_.notify_all();
}

// Only what works is kept: a link that stands, and a connection that is being let in. A dialer may have been turned away without
// having heard of it yet, so it begins again.
void Hub::meet_again(int rank, std::vector<Address> at) {
  Peer& known = peer(rank);
  if (known.link != nullptr && !stands(*known.link)) lose(rank);
  const bool moved = !known.at.empty() && known.at != at;
  const bool is_another = moved || known.gone || known.missed_at != kNever || !known.unreachable.empty();
  const bool was_dialing = known.dialer != nullptr;
  known.dialer.reset();
  Peer now;
  now.at = std::move(at);
  now.arriving = known.arriving;
  if (is_another) {
    has_died(rank, Death::seen);
    for (const auto& [id, context] : contexts_) {
      if (!context->is_early()) now.past.insert(id);
    }
    for (const auto& [id, verdict] : verdicts_) now.past.insert(id);
  } else {
    now.link = std::move(known.link);
    now.past = std::move(known.past);
  }
  known = std::move(now);
  if (was_dialing) need(rank);
}

// Reads what has come, for the connection's end may be last in it.
bool Hub::stands(Link& link) {
  for (int turns = 0; turns < kMostTurnsToTheEnd; ++turns) {
    if (!link.turn()) return false;
    if (!link.unfinished()) return true;
  }
  want_turn(link.peer());
  return true;
}

// ---- contexts

ContextState* Hub::find_context(std::uint32_t id) {
  const auto found = contexts_.find(id);
  return found == contexts_.end() ? nullptr : found->second.get();
}

// Null if it is closed, or there are too many that this rank has not made.
ContextState* Hub::find_or_make_early(std::uint32_t id) {
  if (ContextState* const known = find_context(id)) return known;
  const auto early = std::ranges::count_if(contexts_, [](const auto& each) { return each.second->is_early(); });
  if (is_closed(id) || static_cast<std::size_t>(early) >= kMostEarlyContexts) return nullptr;
  return contexts_.emplace(id, std::make_unique<ContextState>(id)).first->second.get();
}

ContextState& Hub::open_context(std::uint32_t id, const Board& board) {
  HCOMM_ASSERT(!is_closed(id));
  auto& state = contexts_[id];
  if (state == nullptr) state = std::make_unique<ContextState>(id);
  state->set_board(board);
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank].gone) state->has_died(static_cast<int>(rank), peers_[rank].how);
  }
  return *state;
}

void Hub::close_context(ContextState& context) {
  const std::uint32_t id = context.id();
  for (Peer& each : peers_) {
    if (!each.hears_of(id)) continue;
    context.for_each_lane([&](int, Lane, TcpLane& lane) { each.link->forget(lane); });
    if (Board* const board = context.board()) send_status(*each.link, id, *board);
    each.link->post({.kind = FrameKind::left, .context = id});
    flush(each.link->peer());
  }
  contexts_.erase(id);
  closed_.insert(id);
  while (closed_.erase(closed_below_) > 0) ++closed_below_;
}

// ---- links

void Hub::need(int rank) {
  Peer& wanted = peer(rank);
  if (wanted.link != nullptr || wanted.dialer != nullptr || wanted.arriving || wanted.dials_us_since != kNever ||
      wanted.missed_at != kNever || wanted.gone) {
    return;
  }
  if (wanted.at.empty()) wanted.unreachable = "rank " + std::to_string(rank) + " listens nowhere";
  if (!wanted.unreachable.empty()) return fail_lanes(rank, wanted.unreachable);
  const Claim claim = {.job = job_, .purpose = Purpose::link, .from = self_, .to = rank};
  wanted.dial_watch = std::make_unique<DialWatch>(*this, rank);
  wanted.dialer = std::make_unique<Dialer>(
      *network_, secret_, claim, DialPlan{.addresses = wanted.at, .unreachable_after = unreachable_after_}, *wanted.dial_watch);
  wanted.dialer->expire(network_->clock().now());
}

// Both ends may dial at once; then the connection of the lower rank stays, and the other dialer ends with that word.
Refusal Hub::judge(const Claim& claim) {
  const auto ranks = static_cast<std::int32_t>(peers_.size());
  const bool is_ours = claim.purpose == Purpose::link && claim.job == job_ && claim.to == self_ && claim.socket == 0;
  if (!is_ours || claim.from < 0 || claim.from >= ranks || claim.from == self_) return Refusal::wrong_job;
  Peer& from = peer(claim.from);
  if (from.link != nullptr && !from.link->has_begun()) drop_unbegun(claim.from);  // it gave up on that one, and tries again
  if (from.gone) return Refusal::gone;
  if (from.link != nullptr || from.arriving) return Refusal::duplicate;
  if (from.dialer != nullptr && self_ < claim.from) return Refusal::duplicate;
  from.arriving = true;
  return Refusal::none;
}

void Hub::arrived(const Claim& claim, std::unique_ptr<Stream> stream) {
  link_up(claim.from, std::move(stream), Link::End::accepted);
}

void Hub::lost(const Claim& claim) { need_again(claim.from); }

// The other end has given up. Dials, if anything is to be said there.
void Hub::need_again(int rank) {
  peer(rank).arriving = false;
  peer(rank).dials_us_since = kNever;
  const auto wants = [&](ContextState& context) {
    bool found = false;
    if (peer(rank).past.contains(context.id())) return false;
    context.for_each_lane([&](int other, Lane, TcpLane&) { found = found || other == rank; });
    return found;
  };
  if (std::ranges::any_of(contexts_, [&](auto& each) { return wants(*each.second); })) need(rank);
}

void Hub::report(std::string_view line) { log(LogLevel::warn, "tcp", line); }

void Hub::link_up(int rank, std::unique_ptr<Stream> stream, Link::End end) {
  Peer& up = peer(rank);
  up.arriving = false;
  up.dials_us_since = kNever;
  up.was_told_gone = false;
  up.unreachable.clear();
  up.link = std::make_unique<Link>(*this, rank, std::move(stream), end);
  up.missed_at = kNever;
  tell_verdicts(rank);
  for (auto& [id, context] : contexts_) resume(rank, *context);
  want_turn(rank);
}

// What waited for the link.
void Hub::resume(int rank, ContextState& context) {
  if (!peer(rank).hears_of(context.id())) return;
  context.for_each_lane([&](int other, Lane lane, TcpLane& state) {
    if (other != rank) return;
    want_to_receive(context.id(), rank, lane, state);
    peer(rank).link->enqueue(context.id(), lane, state);
  });
}

// There is a link, or there will be none.
bool Hub::is_settled(int rank) const {
  const Peer& known = peers_[static_cast<std::size_t>(rank)];
  return known.link != nullptr || known.gone || !known.unreachable.empty();
}

// What was to be said over it was not heard. There was no link between the two before, for one that has begun is the only one.
void Hub::drop_unbegun(int rank) {
  peer(rank).link.reset();
  for (auto& [id, context] : contexts_) {
    context->for_each_lane([&](int other, Lane, TcpLane& lane) {
      if (other == rank) lane.was_not_heard();
    });
  }
}

void Hub::lose(int rank) {
  if (!peer(rank).link->has_begun()) {
    drop_unbegun(rank);
    return need_again(rank);
  }
  const std::unique_ptr<Link> link = std::move(peer(rank).link);
  if (link->misbehaved()) {
    peer(rank).unreachable = "the connection to rank " + std::to_string(rank) + " was ended, because " + link->why();
    return fail_lanes(rank, peer(rank).unreachable);
  }
  has_died(rank, Death::seen);
}

void Hub::dial_ended(int rank) {
  Peer& wanted = peer(rank);
  const std::unique_ptr<Dialer> dialer = std::move(wanted.dialer);
  if (dialer->state() == Dialer::State::connected) {
    if (wanted.link != nullptr && !wanted.link->has_begun()) drop_unbegun(rank);
    if (wanted.link == nullptr) link_up(rank, dialer->take(), Link::End::dialled);
    return;
  }
  switch (dialer->refusal()) {
    case Refusal::duplicate:
      if (wanted.link == nullptr && !wanted.arriving) wanted.dials_us_since = network_->clock().now();
      return;
    case Refusal::gone:
      if (!std::exchange(wanted.was_told_gone, true)) {
        wanted.dials_us_since = network_->clock().now();  // asks once more
        return;
      }
      has_died(rank, Death::inferred);
      return;
    case Refusal::none:       // nobody listens there any more,
      if (dialer->gave_up()) return cannot_reach(rank, dialer->story() + " (HCOMM_CONNECT_TIMEOUT sets how long to try)");
      [[fallthrough]];
    case Refusal::wrong_job:  // or somebody else
      wanted.missed_at = network_->clock().now();
      return;
    case Refusal::malformed:
    case Refusal::version:
    case Refusal::wrong_secret:
    case Refusal::full:
      return cannot_reach(rank, dialer->story());
  }
}

void Hub::cannot_reach(int rank, const std::string& why) {
  peer(rank).unreachable = "no connection to rank " + std::to_string(rank) + ": " + why;
  fail_lanes(rank, peer(rank).unreachable);
}

void Hub::has_died(int rank, Death how) {
  peer(rank).gone = true;
  peer(rank).how = how;
  for (auto& [id, context] : contexts_) context->has_died(rank, how);
}

void Hub::fail_lanes(int rank, const std::string& why) {
  for (auto& [id, context] : contexts_) {
    context->for_each_lane([&](int other, Lane, TcpLane& lane) {
      if (other == rank) lane.fail(hcommRemoteError, why);
    });
  }
}

// ---- moving

void Hub::want_to_send(std::uint32_t context, int rank, Lane lane, TcpLane& state) {
  need(rank);
  if (!peer(rank).hears_of(context)) return;
  peer(rank).link->enqueue(context, lane, state);
  flush(rank);
}

void Hub::want_to_receive(std::uint32_t context, int rank, Lane lane, TcpLane& state) {
  need(rank);
  if (!peer(rank).hears_of(context)) return;
  const std::uint64_t grant = state.grant_to_tell();
  if (grant == 0) return;
  peer(rank).link->post({.kind = FrameKind::grant, .lane = lane, .context = context, .value = grant});
  flush(rank);
}

// Never loses the link here, where its caller is in the middle of something; the next dispatch does.
void Hub::flush(int rank) {
  Link& link = *peer(rank).link;
  if (!link.flush() || link.unfinished()) want_turn(rank);
}

int Hub::dispatch() {
  int work = network_->dispatch();
  turns_.swap(ready_);
  for (const int rank : turns_) {
    if (peer(rank).link == nullptr) continue;
    ++work;
    if (!peer(rank).link->turn()) {
      lose(rank);
    } else if (peer(rank).link->unfinished()) {
      want_turn(rank);
    }
  }
  turns_.clear();
  return work;
}

void Hub::want_turn(int rank) {
  if (std::ranges::find(ready_, rank) == ready_.end()) ready_.push_back(rank);
}

Result<Address> Hub::listen(const Address& place, const PortRange& ports) {
  const std::lock_guard lock(mutex_);
  Result<std::unique_ptr<Acceptor>> made = Acceptor::listen(*network_, place, secret_, *this, {.ports = ports});
  if (!made.ok()) return std::move(made).status();
  acceptors_.push_back(std::move(made).value());
  return acceptors_.back()->address();
}

void Hub::tend() {
  const TimeNs now = network_->clock().now();
  if (now - tended_at_ < kTendEvery) return;
  tended_at_ = now;
  for (auto& acceptor : acceptors_) acceptor->expire(now);
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    Peer& each = peers_[rank];
    if (each.dialer != nullptr) each.dialer->expire(now);
    if (each.dials_us_since != kNever && now - each.dials_us_since >= kGraceOfTheGone) need_again(static_cast<int>(rank));
    const bool is_missing = each.missed_at != kNever && now - each.missed_at >= kGraceOfTheGone;
    if (is_missing && !each.gone) has_died(static_cast<int>(rank), Death::inferred);
  }
}

// Until what was said is sent, or has arrived, but not for long. Whoever has news of a failure also waits for those that it has
// called, or that call it: they may have it from nobody else.
void Hub::settle(std::unique_lock<std::mutex>& lock, TimeNs most, Until until) {
  const TimeNs start = network_->clock().now();
  TimeNs progress = start;
  std::size_t least = SIZE_MAX;
  while (true) {
    const TimeNs now = network_->clock().now();
    const bool may_call = until == Until::arrived && !verdicts_.empty() && now - start < kLongestCall;
    std::size_t unsaid = 0;
    bool calls = false;
    for (const Peer& each : peers_) {
      if (each.link != nullptr) unsaid += each.link->unsaid(until == Until::arrived);
      else calls = calls || (may_call && (each.dialer != nullptr || each.arriving || each.dials_us_since != kNever));
    }
    if (unsaid < least) progress = now;
    least = std::min(least, unsaid);
    const bool says = unsaid > 0 && now - progress < most && now - start < kLongestFarewells;
    if (!says && !calls) return;
    if (waited_for_) {
      changed_.wait_for(lock, std::chrono::nanoseconds(kMillisecond));
    } else {
      network_->wait(kMillisecond);
      dispatch();
    }
  }
}

}  // namespace hcomm
