// How a communicator waits: turns of the engine while they find work; then spin, yield, sleep; and with each longer pause a look
// at the peers' health and at the clock. A call that finds its peers ready never gets here beyond the first turns.

#include <sched.h>

#include <algorithm>
#include <utility>

#include "comm/communicator.h"

namespace hcomm {
namespace {

// No sleep exceeds this, so that whatever rings no bell is seen in time.
constexpr TimeNs kLongestSleep = 100 * kMillisecond;
// Several communicators of one thread have several doorbells; it sleeps on one, and looks at the others so often.
constexpr TimeNs kSharedSleep = kMillisecond;
// Looks at health and clock cost as much as a yield; every so many yields are soon enough, for a sleep always looks.
constexpr int kYieldsPerLook = 16;
// A rank that finds work in every turn never looks; so it says now and then that it lives.
constexpr int kTurnsPerBeat = 64;

}  // namespace

Status give_up(std::span<Communicator* const> communicators, Status why) {
  for (Communicator* const each : communicators) each->abandon();
  return why;
}

Status wait_for(std::span<Communicator* const> communicators) {
  HCOMM_ASSERT(!communicators.empty());
  IdleLadder ladder(communicators.front()->idle_policy_);
  int yields = 0;
  int turns = 0;
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
      if (++turns % kTurnsPerBeat == 0) waiting->show_life();
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

Result<bool> Communicator::nudge() {
  if (failed_.load(std::memory_order_acquire) != hcommSuccess) return standing();
  if (!busy()) return true;
  Result<int> turned = turn();
  if (!turned.ok()) return std::move(turned).status();
  if (busy()) {
    if (Status status = check_health(); !status.ok()) return status;
  }
  return !busy();
}

// Moves the current call, or begins the next one. Returns how much was done.
Result<int> Communicator::turn() {
  int work = 1;
  if (reaching_) {
    work = reach();
  } else if (engine_.running()) {
    work = advance();
  } else if (engine_.failure().ok() && stranger_ < 0) {
    if (Status begun = begin_next(); !begun.ok()) return begun;
  }
  if (work > 0) waiting_since_ = 0;
  if (stranger_ >= 0) return fail(judge(mismatch_with(stranger_)));
  return engine_.failure().ok() ? Result<int>(work) : end_failed_run();
}

// A mismatch is told when both calls are known.
Result<int> Communicator::end_failed_run() {
  const Rank culprit = engine_.culprit();
  const bool mismatch = engine_.failure().code() == hcommMismatch;
  if (mismatch && !can_tell(culprit)) return transport_->poll();
  Status why = judge(mismatch ? mismatch_with(culprit) : about(Reason::broken, culprit));
  return fail(std::move(why).during(engine_.failure().trail()));
}

int Communicator::advance() {
  const int work = engine_.step();
  if (engine_.running() || !engine_.failure().ok()) return work;
  if (!guarded_ && transport_ != nullptr) stranger_ = stranger();
  if (stranger_ < 0) end(hcommSuccess);
  return work + 1;
}

// Another communicator of the same group failed: this one will not be finished either, and its peers must not wait for it.
void Communicator::abandon() {
  if (!busy()) return;
  if (transport_ == nullptr) {
    static_cast<void>(fail(Status::failure(hcommAborted, "a call of the same group failed on another communicator")));
  } else {
    static_cast<void>(fail(judge(about(Reason::aborted, rank_))));
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
  const bool was_running = engine_.running();
  const int work = was_running ? advance() : transport_->poll();
  if (work > 0 || was_running != engine_.running() || transport_->board().has_verdict()) {
    transport_->disarm();
    return;
  }
  transport_->sleep(std::min(most, next_look()));
}

// Meeting the others is part of making the communicator, and bounded as that is, also where HCOMM_TIMEOUT is never.
TimeNs Communicator::timeout() const { return agreeing_ ? settings_.connect_timeout_ns : settings_.timeout_ns; }

// Until something must be decided by the clock.
TimeNs Communicator::next_look() const {
  const TimeNs waited = clock_.now() - waiting_since_;
  TimeNs left = timeout() == kNever ? kNever : timeout() - waited;
  if (!warned_late_) left = std::min(left, settings_.peer_timeout_ns - waited);
  return std::max(left, kMicrosecond);
}

}  // namespace hcomm
