// How a communicator waits: turns of the engine while they find work; then spin, yield, sleep; and with each longer pause a look
// at the peers' health and at the clock. A call that finds its peers ready never gets here beyond the first turns.

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "comm/call_digest.h"
#include "comm/communicator.h"
#include "comm/verdict_text.h"

namespace hcomm {
namespace {

// No sleep exceeds this, so that whatever rings no bell is seen in time.
constexpr TimeNs kLongestSleep = 100 * kMillisecond;
// Several communicators of one thread have several doorbells; it sleeps on one, and looks at the others so often.
constexpr TimeNs kSharedSleep = kMillisecond;
// Looks at health and clock cost as much as a yield; every so many yields are soon enough, for a sleep always looks.
constexpr int kYieldsPerLook = 16;

}  // namespace

Status give_up(std::span<Communicator* const> communicators, Status why) {
  for (Communicator* const each : communicators) each->abandon();
  return why;
}

Status wait_for(std::span<Communicator* const> communicators) {
  HCOMM_ASSERT(!communicators.empty());
  IdleLadder ladder(communicators.front()->idle_policy_);
  int yields = 0;
  const TimeNs most = communicators.size() == 1 ? kLongestSleep : kSharedSleep;
  while (true) {
    int work = 0;
    Communicator* waiting = nullptr;
    for (Communicator* const each : communicators) {
      if (!each->busy()) continue;
      Result<int> turn = each->turn();
      if (!turn.ok()) return give_up(communicators, std::move(turn).status());
      work += turn.value();
      if (each->busy()) waiting = each;
    }
    if (waiting == nullptr) return {};
    if (work > 0) {
      ladder.reset();
      continue;
    }
    const IdleAct act = ladder.next();
    const bool look = act == IdleAct::sleep || (act == IdleAct::yield && ++yields % kYieldsPerLook == 0);
    for (Communicator* const each : communicators) {
      if (!each->busy()) continue;
      if (!look && (each->transport_ == nullptr || !each->transport_->board().has_verdict())) continue;
      if (Status status = each->check_health(); !status.ok()) return give_up(communicators, std::move(status));
    }
    waiting->pass_time(act, most);
  }
}

// Moves the current call, or begins the next one. Returns how much was done.
Result<int> Communicator::turn() {
  int work = 1;
  if (engine_.running()) {
    work = advance();
  } else if (engine_.failure().ok() && stranger_ < 0) {
    if (Status begun = begin_next(); !begun.ok()) return begun;
  }
  if (stranger_ >= 0) return fail(judge(Reason::mismatch, stranger_));
  if (engine_.failure().ok()) return work;
  const bool mismatch = engine_.failure().code() == hcommMismatch;
  Status why = judge(mismatch ? Reason::mismatch : Reason::broken, engine_.culprit());
  return fail(std::move(why).during(engine_.failure().trail()));
}

int Communicator::advance() {
  const int work = engine_.step();
  if (engine_.running() || !engine_.failure().ok()) return work;
  // Messages carry their length alone. Of two ranks whose calls do not fit, the first one at the end finds the other in it still.
  if (!digests_in_slots_ && transport_ != nullptr) stranger_ = stranger();
  if (stranger_ < 0) end(hcommSuccess);
  return work + 1;
}

// Another communicator of the same group failed: this one will not be finished either, and its peers must not wait for it.
void Communicator::abandon() {
  if (!busy()) return;
  if (transport_ == nullptr) {
    static_cast<void>(fail(Status::failure(hcommAborted, "a call of the same group failed on another communicator")));
  } else {
    static_cast<void>(fail(judge(Reason::aborted, rank_)));
  }
}

void Communicator::pass_time(IdleAct act, TimeNs most) {
  switch (act) {
    case IdleAct::spin:
      spin_pause();
      return;
    case IdleAct::yield:
      sched_yield();
      return;
    case IdleAct::sleep:
      break;
  }
  if (transport_ == nullptr) return;
  transport_->arm();
  // One more look, now that peers know that they must ring.
  if (advance() > 0 || !engine_.running() || transport_->board().has_verdict()) {
    transport_->disarm();
    return;
  }
  transport_->sleep(std::min(most, next_look()));
}

// Meeting the others is part of making the communicator, and bounded as that is, also where HCOMM_TIMEOUT is never.
TimeNs Communicator::timeout() const { return agreement_.empty() ? settings_.timeout_ns : settings_.connect_timeout_ns; }

// Until something must be decided by the clock.
TimeNs Communicator::next_look() const {
  const TimeNs waited = MonotonicClock().now() - waiting_since_;
  TimeNs left = timeout() == kNever ? kNever : timeout() - waited;
  if (!warned_late_) left = std::min(left, settings_.peer_timeout_ns - waited);
  return std::max(left, kMicrosecond);
}

Status Communicator::check_health() {
  if (transport_ == nullptr || !engine_.running()) return {};
  Board& board = transport_->board();
  if (board.has_verdict()) {
    if (advance() > 0) return {};  // what is there is taken, even so
    const auto verdict = board.verdict();
    return verdict ? fail(told(*verdict, operation_text(current_.collective, sequence_))) : Status();
  }
  Rank dead = kNoRank;
  engine_.for_each_awaited([&](int peer) {
    if (dead < 0 && board.is_dead(peer)) dead = peer;
  });
  if (dead >= 0) {
    if (advance() > 0) return {};  // it had done its part before it died
    return fail(judge(Reason::died, dead));
  }
  if (const Rank other = stranger(); other != kNoRank) {
    if (advance() > 0) return {};
    return fail(judge(Reason::mismatch, other));
  }
  const TimeNs now = MonotonicClock().now();
  if (waiting_since_ == 0) waiting_since_ = now;
  const TimeNs waited = now - waiting_since_;
  if (!warned_late_ && waited >= settings_.peer_timeout_ns) warn_late(waited);
  if (waited < timeout() || timeout() == kNever) return {};
  return fail(judge(Reason::timed_out, late_ranks().front()));
}

// A rank whose call of this number is another one, or kNoRank.
Rank Communicator::stranger() const {
  const Board& board = transport_->board();
  for (int peer = 0; peer < ranks_; ++peer) {
    if (tags_clash(board.call(peer), board.call(rank_))) return peer;
  }
  return kNoRank;
}

// Who has not begun this operation yet; if all have, who is awaited now.
std::vector<int> Communicator::late_ranks() const {
  std::vector<int> late;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_ && transport_->board().entered(peer) <= calls_) late.push_back(peer);
  }
  if (late.empty()) engine_.for_each_awaited([&](int peer) { late.push_back(peer); });
  if (late.empty()) late.push_back(rank_);
  return late;
}

void Communicator::warn_late(TimeNs waited) {
  warned_late_ = true;
  std::string late;
  for (const int peer : late_ranks()) late += (late.empty() ? "" : ", ") + std::to_string(peer);
  log(LogLevel::warn, "comm",
      "rank " + std::to_string(rank_) + " has waited " + std::to_string(waited / kMillisecond) + " ms in " +
          operation_text(current_.collective, sequence_) + " for rank " + late);
}

// Gives the verdict, or learns the one that stands; tells everybody.
Status Communicator::judge(Reason reason, int culprit) {
  Board& board = transport_->board();
  const Verdict stands = board.give({.reason = reason,
                                     .culprit = culprit,
                                     .pid = culprit >= 0 ? board.pid(culprit) : 0,
                                     .writer = rank_,
                                     .collective = current_.collective,
                                     .sequence = sequence_});
  wake_all();
  return told(stands, operation_text(current_.collective, sequence_));
}

// The current call has failed.
Status Communicator::fail(Status why) {
  forget_queue();
  if (tracer_ != nullptr) tracer_->call_ended(trace(why.code()));
  return keep(std::move(why));
}

void Communicator::wake_all() {
  Window* const window = transport_->window();
  if (window == nullptr) return;
  for (int peer = 0; peer < ranks_; ++peer) ring(*window, peer);
}

}  // namespace hcomm
