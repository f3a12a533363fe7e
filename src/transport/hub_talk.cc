// What hubs say to each other about a communicator: how are you, this has failed, I have left.
#include "transport/hub.h"

namespace hcomm {

void Hub::ask_everybody(std::uint32_t context) {
  for (Peer& each : peers_) {
    if (!each.hears_of(context)) continue;
    each.link->post({.kind = FrameKind::query, .context = context});
    flush(each.link->peer());
  }
}

// To all that are linked, and to those at distances of 1, 2, 4, ... who may know nobody that fails: so the news reaches everybody
// in a number of hops that grows with the logarithm of the ranks, also if some of them are gone.
void Hub::spread(ContextState& context) {
  if (context.spread) return;
  const std::optional<Verdict> verdict = context.board()->verdict();
  if (!verdict.has_value()) return;
  context.spread = true;
  const auto payload = to_bytes(*verdict);
  verdicts_[context.id()] = payload;
  for (Peer& each : peers_) {
    if (!each.hears_of(context.id())) continue;
    each.link->post({.kind = FrameKind::verdict, .context = context.id(), .length = kVerdictBytes}, payload);
    flush(each.link->peer());
  }
  const auto ranks = static_cast<int>(peers_.size());
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int peer = (self_ + distance) % ranks;
    if (!context.is_here(peer)) need(peer);
  }
}

void Hub::tell_verdicts(int rank) {
  for (const auto& [id, payload] : verdicts_) {
    if (!peer(rank).hears_of(id)) continue;
    peer(rank).link->post({.kind = FrameKind::verdict, .context = id, .length = kVerdictBytes}, payload);
  }
  if (!verdicts_.empty()) flush(rank);
}

PeerStatus Hub::own_status(const Board& board) const {
  PeerStatus status{.pid = board.pid(self_), .beat = board.beat(self_), .host = board.host(self_), .calls = {}};
  const std::uint64_t entered = board.entered(self_);
  for (std::uint64_t number = entered - std::min<std::uint64_t>(entered, kRecentCalls); number < entered; ++number) {
    if (const auto call = board.call(self_, number)) status.calls.push_back(*call);
  }
  return status;
}

void Hub::send_status(Link& link, std::uint32_t context, const Board& board) const {
  link.answer({.kind = FrameKind::status, .context = context, .length = kStatusBytes}, to_bytes(own_status(board)));
}

void Hub::note_status(Board& board, int rank, const PeerStatus& status) {
  board.set_pid(rank, status.pid);
  board.set_host(rank, status.host);
  for (const CallWords& call : status.calls) board.set_call(rank, call);
  board.set_beat(rank, status.beat);
}

TcpLane* Hub::lane_for(Link& link, const Frame& frame, bool& broken) {
  ContextState* const context = find_or_make_early(frame.context);
  if (context == nullptr) {
    broken = !is_closed(frame.context);
    if (!broken) link.answer({.kind = FrameKind::left, .context = frame.context});
    return nullptr;
  }
  // A call that failed has returned: nobody writes into its memory any more.
  return context->is_over() ? nullptr : &context->lane(link.peer(), frame.lane);
}

void Hub::received_some(Link&, std::uint32_t context) {
  if (ContextState* const known = find_context(context)) known->note_bytes();
}

bool Hub::heard(Link& link, const Frame& frame, ConstBytes payload) {
  if (is_closed(frame.context)) {
    if (frame.kind == FrameKind::query) link.answer({.kind = FrameKind::left, .context = frame.context});
    return true;
  }
  ContextState* const context = find_or_make_early(frame.context);
  if (context == nullptr) return false;
  Board* const board = context->board();
  switch (frame.kind) {
    case FrameKind::data:
    case FrameKind::begin:
      break;
    case FrameKind::grant: {
      TcpLane& lane = context->lane(link.peer(), frame.lane);
      lane.granted(frame.value);
      link.enqueue(frame.context, frame.lane, lane);
      return true;
    }
    case FrameKind::query:
      if (board != nullptr) {
        send_status(link, frame.context, *board);
      }
      return true;
    case FrameKind::status: {
      const auto status = parse_status(payload.first<kStatusBytes>(), static_cast<int>(peers_.size()));
      if (status.ok() && board != nullptr) note_status(*board, link.peer(), status.value());
      context->note();
      return status.ok();
    }
    case FrameKind::verdict: {
      const auto verdict = parse_verdict(payload.first<kVerdictBytes>(), static_cast<int>(peers_.size()));
      if (verdict.ok()) context->hears(verdict.value());
      return verdict.ok();
    }
    case FrameKind::left:
      context->has_left(link.peer());
      return true;
  }
  unreachable();
}

}  // namespace hcomm
