#include "transport/board.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/clock.h"

namespace hcomm {
namespace {

constexpr std::uint32_t kOpen = 0;
constexpr std::uint32_t kWriting = 1;
constexpr std::uint32_t kWritten = 2;
constexpr std::uint32_t kGivenUp = 3;  // the writer died, or stood still, in the middle

constexpr TimeNs kLongestWrite = 20 * kMillisecond;  // it takes a microsecond; a writer may lose its core
constexpr int kReadings = 8;  // of a call that its rank may be writing just now

constexpr Verdict kBroken = {.reason = Reason::broken};

Verdict read_checked(const VerdictCell& cell, int ranks) {
  VerdictWords words{};
  for (std::size_t at = 0; at < words.size(); ++at) words[at] = cell.words[at].load(std::memory_order_relaxed);
  return unpack(words, ranks).value_or(kBroken);
}

}  // namespace

// The first one stays. Of two at the same time either may count as the earlier one.
void Board::end(int rank, std::uint32_t how) {
  std::uint32_t before = 0;
  for (int other = 0; other < ranks_; ++other) before += is_dead(other) ? 1 : 0;
  std::uint32_t alive = kAlive;
  lives_[rank].dead.compare_exchange_strong(alive, how | before << kHowBits, std::memory_order_acq_rel);
}

Rank Board::first_to_die() const {
  Rank first = kNoRank;
  std::uint32_t fewest = 0;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const std::uint32_t before = lives_[rank].dead.load(std::memory_order_acquire) >> kHowBits;
    if (!is_dead(rank) || has_left(rank) || (first != kNoRank && before >= fewest)) continue;
    first = rank;
    fewest = before;
  }
  return first;
}

HostName Board::host(int rank) const {
  HostName host{};
  for (std::size_t at = 0; at < 2; ++at) {
    const std::uint64_t word = lives_[rank].host[at].load(std::memory_order_relaxed);
    std::memcpy(&host[at * sizeof word], &word, sizeof word);
  }
  return host_name(text_of(host));
}

void Board::set_host(int rank, const HostName& host) {
  for (std::size_t at = 0; at < 2; ++at) {
    std::uint64_t word = 0;
    std::memcpy(&word, &host[at * sizeof word], sizeof word);
    lives_[rank].host[at].store(word, std::memory_order_relaxed);
  }
}

std::optional<CallWords> Board::call(int rank) const {
  const std::uint64_t count = entered(rank);
  return count == 0 ? std::nullopt : call(rank, count - 1);
}

std::optional<CallWords> Board::call(int rank, std::uint64_t number) const {
  for (int reading = 0; reading < kReadings; ++reading) {
    const std::uint64_t count = entered(rank);
    if (number >= count || count - number > kRecentCalls) return std::nullopt;
    if (auto found = look_up(rank, count, number)) return found;
  }
  return std::nullopt;
}

// Each call vouches for the one before it, and the rank's digest for the latest.
std::optional<CallWords> Board::look_up(int rank, std::uint64_t entered, std::uint64_t number) const {
  const Life& life = lives_[rank];
  std::uint64_t digest = life.digest.load(std::memory_order_acquire);
  for (std::uint64_t at = entered - 1;; --at) {
    const Life::Call& call = life.recent[at % kRecentCalls];
    const PackedCall packed = {.kind = call.kind.load(std::memory_order_relaxed),
                               .count = call.count.load(std::memory_order_relaxed),
                               .number = at,
                               .before = call.before.load(std::memory_order_relaxed)};
    if (call_digest(packed) != digest) return std::nullopt;
    if (at == number) return unpack(packed, ranks_);
    digest = packed.before;
  }
}

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
    const VerdictWords words = pack(verdict);
    for (std::size_t at = 0; at < words.size(); ++at) cell_->words[at].store(words[at], std::memory_order_relaxed);
    state = kWriting;
    cell_->state.compare_exchange_strong(state, kWritten, std::memory_order_seq_cst);
  }
  return this->verdict().value_or(kBroken);
}

std::optional<Parting> find_parting(const Board& board, int one, int other) {
  const std::uint64_t both = std::min(board.entered(one), board.entered(other));
  std::optional<Parting> found;
  for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(both, kRecentCalls); ++back) {
    const auto a = board.call(one, both - back);
    const auto b = board.call(other, both - back);
    if (!a || !b || *a == *b) break;
    found = Parting{*a, *b};
    if (a->before == b->before) break;
  }
  return found;
}

}  // namespace hcomm
