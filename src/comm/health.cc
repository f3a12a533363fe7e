// A look at health: what a rank does now and then while it waits. It says that it lives, and asks in turn: is there a verdict?
// has somebody made another call? has somebody died whom I need? is somebody stuck, or late?
//
// Late is who has not begun the call: it may still come, so it is named in a warning, and ended by HCOMM_TIMEOUT alone. Stuck is
// who has begun it and then moves no more: neither its step nor its beat, which every waiting rank raises. A rank that waits
// itself is neither; whoever it waits for is, or waits, too; so the late rank at the end of a chain is named by all.

#include <algorithm>

#include "base/log.h"
#include "comm/communicator.h"
#include "comm/verdict_text.h"

namespace hcomm {
namespace {

// A wait without progress for so long asks the peers that share no memory with this rank, and again after as long.
constexpr TimeNs kInquiryPause = 100 * kMillisecond;
// How long the answer to that may take where only the other call is still to be named.
constexpr TimeNs kAnswerPatience = 200 * kMillisecond;
// A waiting rank may sleep for 100 ms, and its core may be busy: who stands still for less is not stuck.
constexpr TimeNs kLeastPatience = 500 * kMillisecond;
// Of a peer that stands still, whatever the clock says: this process may itself have been stopped.
constexpr int kLooks = 5;
constexpr TimeNs kReachMargin = 10 * kSecond;

}  // namespace

Status Communicator::check_health() {
  const bool is_telling = tell_by_ != 0;
  if (transport_ == nullptr || (!engine_.running() && !is_telling && !reaching_)) return {};
  show_life();
  transport_->heed();
  Board& board = transport_->board();
  if (board.has_verdict()) {
    if (!reaching_ && advance() > 0) return {};  // what is there is taken, even so
    const auto verdict = board.verdict();
    return verdict ? fail(told(*verdict, operation_text(own_call()))) : Status();
  }
  if (reaching_) return check_reach();
  if (!engine_.running()) return {};
  if (const Rank other = stranger(); other != kNoRank) {
    if (advance() > 0) return {};
    return fail(judge(mismatch_with(other)));
  }
  Rank gone = kNoRank;
  engine_.for_each_awaited([&](Rank peer) {
    if (gone == kNoRank && board.is_dead(peer)) gone = peer;
  });
  if (gone != kNoRank) {
    if (advance() > 0) return {};  // it had done its part before it died
    // Who is missing may have failed, and left, because of another.
    if (board.is_missing(gone)) gone = board.first_to_die();
    return fail(judge(about(board.has_left(gone) ? Reason::left : Reason::died, gone)));
  }
  return check_time();
}

// How long there has been no progress. Asks the peers now and then.
TimeNs Communicator::waited_until(TimeNs now) {
  if (waiting_since_ == 0) {
    waiting_since_ = now;
    next_inquiry_ = now + kInquiryPause;
  }
  if (now >= next_inquiry_) {
    next_inquiry_ = now + kInquiryPause;
    transport_->inquire();
  }
  return now - waiting_since_;
}

// A peer that cannot be reached is no failure before a call needs it, so this waits somewhat longer than for that to be known.
Status Communicator::check_reach() {
  const TimeNs now = clock_.now();
  if (waited_until(now) <= add_saturated(settings_.connect_timeout_ns, kReachMargin)) return {};
  const Rank missing = transport_->reach();
  if (missing == kNoRank) return {};  // it has just come
  return fail(Status::failure(hcommTimeout, "rank " + std::to_string(missing) + " was not connected with within " +
                                                std::to_string(settings_.connect_timeout_ns / kMillisecond) +
                                                " ms (HCOMM_CONNECT_TIMEOUT)"));
}

Status Communicator::check_time() {
  const TimeNs now = clock_.now();
  const TimeNs waited = waited_until(now);
  if (waited < kInquiryPause && waited < timeout() && waited < settings_.peer_timeout_ns) return {};
  if (const Rank stuck = stuck_rank(now); stuck != kNoRank) return fail(judge(about(Reason::stuck, stuck)));
  if (!warned_late_ && waited >= settings_.peer_timeout_ns) warn_late(waited);
  if (waited < timeout() || timeout() == kNever) return {};
  const std::vector<Rank> late = late_ranks();
  Rank culprit = late.empty() ? rank_ : late.front();
  if (late.empty()) engine_.for_each_awaited([&](Rank peer) { culprit = peer; });
  return fail(judge(about(Reason::timed_out, culprit)));
}

// Whether the call of a rank that does not fit this rank's is known; or will not be.
bool Communicator::can_tell(Rank other) {
  if (other == kNoRank || find_parting(transport_->board(), rank_, other)) return true;
  const TimeNs now = clock_.now();
  if (tell_by_ == 0) {
    tell_by_ = now + kAnswerPatience;
    transport_->inquire();
  }
  return now >= tell_by_;
}

// A rank whose calls are other ones than this rank's, or kNoRank.
Rank Communicator::stranger() const {
  if (!is_checked_) return kNoRank;
  const Board& board = transport_->board();
  for (Rank peer = 0; peer < ranks_; ++peer) {
    if (board.digest(peer) != digest_ && find_parting(board, rank_, peer)) return peer;
  }
  return kNoRank;
}

// Who has not begun this operation yet.
std::vector<Rank> Communicator::late_ranks() const {
  std::vector<Rank> late;
  for (Rank peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && transport_->board().entered(peer) <= calls_) late.push_back(peer);
  }
  return late;
}

// One that is awaited, has begun this operation, and stands still in it; or kNoRank.
Rank Communicator::stuck_rank(TimeNs now) {
  if (settings_.peer_timeout_ns == kNever) return kNoRank;
  const TimeNs patience = std::max(settings_.peer_timeout_ns, kLeastPatience);
  const Board& board = transport_->board();
  const Window* const window = transport_->window();
  watches_.resize(static_cast<std::size_t>(ranks_));
  Rank stuck = kNoRank;
  engine_.for_each_awaited([&](Rank peer) {
    if (board.entered(peer) != calls_ + 1) return;
    const Watch seen{.call = calls_ + 1,
                     .beat = board.beat(peer),
                     .step = window != nullptr ? window->steps[peer].step.load(std::memory_order_relaxed) : 0,
                     .since = now};
    Watch& watch = watches_[static_cast<std::size_t>(peer)];
    if (watch.call != seen.call || watch.beat != seen.beat || watch.step != seen.step) {
      watch = seen;
    } else if (++watch.looks >= kLooks && now - watch.since >= patience) {
      stuck = peer;
    }
  });
  return stuck;
}

void Communicator::warn_late(TimeNs waited) {
  const Board& board = transport_->board();
  std::string late;
  std::size_t left = kMoreLate;
  for (const Rank peer : late_ranks()) {
    late += (late.empty() ? "" : "; ") + ("rank " + std::to_string(peer)) + " (pid " + std::to_string(board.pid(peer));
    const auto call = board.call(peer);
    late += call ? ", whose latest call is " + operation_text(*call) + ")" : ", which has made no call)";
    if (left-- == 0) {
      late += "; and more";
      break;
    }
  }
  if (late.empty()) return;
  warned_late_ = true;
  log(LogLevel::warn, "comm",
      "rank " + std::to_string(rank_) + " has waited " + std::to_string(waited / kMillisecond) + " ms in " +
          operation_text(own_call()) + " for " + late);
}

// A verdict of this rank, in the current call, on another one.
Verdict Communicator::about(Reason reason, Rank culprit) const {
  const Board& board = transport_->board();
  Verdict verdict{.reason = reason, .culprit = culprit, .writer = rank_, .witness = rank_, .witness_call = own_call()};
  if (culprit == kNoRank) return verdict;
  verdict.pid = board.pid(culprit);
  verdict.host = board.host(culprit);
  verdict.culprit_call = board.call(culprit);
  if (reason == Reason::stuck) verdict.signalled = engine_.signalled_by(culprit);
  if (reason == Reason::timed_out) {
    const std::vector<Rank> late = late_ranks();
    verdict.late = static_cast<std::uint32_t>(late.size());
    if (late.size() > 1) std::copy_n(late.begin() + 1, std::min(late.size() - 1, kMoreLate), verdict.more_late.begin());
  }
  return verdict;
}

// Between two ranks, the one that fewer agree with is the culprit; the higher one where that is even.
Verdict Communicator::mismatch_with(Rank other) const {
  const Board& board = transport_->board();
  Verdict verdict = about(Reason::mismatch, other);
  if (other == kNoRank) return verdict;
  const auto parting = find_parting(board, rank_, other);
  if (!parting) return verdict;
  int with_this = 0;
  int with_other = 0;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const auto call = board.call(rank, parting->one.number);
    if (call && *call == parting->one) ++with_this;
    if (call && *call == parting->other) ++with_other;
  }
  verdict.witness_call = parting->one;
  verdict.culprit_call = parting->other;
  if (with_this > with_other || (with_this == with_other && rank_ < other)) return verdict;
  std::swap(verdict.witness_call, verdict.culprit_call);
  std::swap(verdict.witness, verdict.culprit);
  verdict.pid = board.pid(rank_);
  verdict.host = board.host(rank_);
  return verdict;
}

// Gives the verdict, or learns the one that stands; tells everybody.
Status Communicator::judge(const Verdict& verdict) {
  const Verdict stands = transport_->board().give(verdict);
  transport_->alarm();
  return told(stands, operation_text(own_call()));
}

// The current call has failed.
Status Communicator::fail(Status why) {
  forget_queue();
  if (transport_ != nullptr) transport_->withdraw();
  if (tracer_ != nullptr) tracer_->call_ended(trace(why.code()));
  return keep(std::move(why));
}

}  // namespace hcomm
