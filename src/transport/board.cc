#include "transport/board.h"

#include <sched.h>

#include "base/clock.h"

namespace hcomm {
namespace {

constexpr std::uint32_t kOpen = 0;
constexpr std::uint32_t kWriting = 1;
constexpr std::uint32_t kWritten = 2;
constexpr std::uint32_t kGivenUp = 3;  // the writer died, or stood still, in the middle

constexpr TimeNs kLongestWrite = 20 * kMillisecond;  // it takes a microsecond; a writer may lose its core

constexpr Verdict kBroken = {.reason = Reason::broken};

std::optional<Reason> checked_reason(std::uint32_t value) {
  if (value == 0 || value > static_cast<std::uint32_t>(Reason::broken)) return std::nullopt;
  return static_cast<Reason>(value);
}

std::optional<Collective> checked_collective(std::uint32_t value) {
  for (const Collective collective : kCollectives) {
    if (static_cast<std::uint32_t>(collective) == value) return collective;
  }
  return std::nullopt;
}

Verdict read_checked(const VerdictCell& cell, int ranks) {
  const auto reason = checked_reason(cell.reason.load(std::memory_order_relaxed));
  const auto collective = checked_collective(cell.collective.load(std::memory_order_relaxed));
  const Verdict verdict = {.reason = reason.value_or(Reason::broken),
                           .culprit = cell.culprit.load(std::memory_order_relaxed),
                           .pid = cell.pid.load(std::memory_order_relaxed),
                           .writer = cell.writer.load(std::memory_order_relaxed),
                           .collective = collective.value_or(Collective::barrier),
                           .sequence = cell.sequence.load(std::memory_order_relaxed)};
  const auto is_rank_or_none = [ranks](std::int32_t rank) { return rank >= -1 && rank < ranks; };
  const bool sound = reason.has_value() && collective.has_value() && is_rank_or_none(verdict.culprit) &&
                     is_rank_or_none(verdict.writer) && verdict.pid >= 0;
  return sound ? verdict : kBroken;
}

}  // namespace

std::optional<Verdict> Board::verdict() const {
  std::uint32_t state = cell_->state.load(std::memory_order_acquire);
  if (state == kOpen) return std::nullopt;
  if (state == kWriting) {
    const MonotonicClock clock;
    const TimeNs end = clock.now() + kLongestWrite;
    while (state == kWriting && clock.now() < end) {
      sched_yield();
      state = cell_->state.load(std::memory_order_acquire);
    }
    // Everybody must read the same: once given up, a late writer cannot finish.
    if (state == kWriting && cell_->state.compare_exchange_strong(state, kGivenUp, std::memory_order_acq_rel)) {
      state = kGivenUp;
    }
  }
  return state == kWritten ? read_checked(*cell_, ranks_) : kBroken;
}

Verdict Board::give(const Verdict& verdict) {
  HCOMM_ASSERT(verdict.reason != Reason::none);
  std::uint32_t state = kOpen;
  if (cell_->state.compare_exchange_strong(state, kWriting, std::memory_order_acq_rel)) {
    cell_->reason.store(static_cast<std::uint32_t>(verdict.reason), std::memory_order_relaxed);
    cell_->culprit.store(verdict.culprit, std::memory_order_relaxed);
    cell_->pid.store(verdict.pid, std::memory_order_relaxed);
    cell_->writer.store(verdict.writer, std::memory_order_relaxed);
    cell_->collective.store(static_cast<std::uint32_t>(verdict.collective), std::memory_order_relaxed);
    cell_->sequence.store(verdict.sequence, std::memory_order_relaxed);
    state = kWriting;
    cell_->state.compare_exchange_strong(state, kWritten, std::memory_order_seq_cst);
  }
  return this->verdict().value_or(kBroken);
}

}  // namespace hcomm
