// What all ranks of a communicator on one host can see of its health. Lies in shared memory; anybody may write, so nothing
// in it is trusted as an index or a length.
//
// A death is a fact about one rank; it becomes the communicator's failure only when somebody who needs that rank writes
// the verdict. There is one verdict; the first writer wins, and every waiter returns it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "base/ids.h"
#include "hcomm/types.h"
#include "schedule/problem.h"

namespace hcomm {

enum class Reason : std::uint32_t { none, died, timed_out, mismatch, aborted, broken };

constexpr std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::none:      return "none";
    case Reason::died:      return "died";
    case Reason::timed_out: return "timed out";
    case Reason::mismatch:  return "mismatch";
    case Reason::aborted:   return "aborted";
    case Reason::broken:    return "broken";
  }
  unreachable();
}

struct Verdict {
  Reason reason = Reason::none;
  Rank culprit = kNoRank;
  std::int32_t pid = 0;       // of the culprit, as its own /proc knows it
  Rank writer = kNoRank;      // who gave the verdict
  Collective collective = Collective::barrier;
  std::uint64_t sequence = 0;  // the operation's number in the communicator, from 0

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// What Life::dead says. A rank that left closed its transport in good order; for who still waits for it, it is gone, too.
inline constexpr std::uint32_t kAlive = 0;
inline constexpr std::uint32_t kDied = 1;
inline constexpr std::uint32_t kLeft = 2;

// One line per rank. `dead` is raised by whoever finds out.
struct alignas(64) Life {
  std::atomic<std::uint32_t> dead{0};
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint64_t> entered{0};  // operations it has begun; says who is late. Written by the rank alone
  std::atomic<std::uint64_t> call{0};     // tag of the latest one (comm/call_digest.h); says who made another call
};

struct VerdictCell {
  std::atomic<std::uint32_t> state{0};  // 0 open, 1 being written, 2 written, 3 its writer was given up
  std::atomic<std::uint32_t> reason{0};
  std::atomic<Rank> culprit{kNoRank};
  std::atomic<std::int32_t> pid{0};
  std::atomic<Rank> writer{kNoRank};
  std::atomic<std::uint32_t> collective{0};
  std::atomic<std::uint64_t> sequence{0};
};

class Board {
 public:
  Board() = default;
  Board(int ranks, Life* lives, VerdictCell* cell) : ranks_(ranks), lives_(lives), cell_(cell) {}

  bool is_dead(int rank) const { return lives_[rank].dead.load(std::memory_order_acquire) != 0; }
  bool has_left(int rank) const { return lives_[rank].dead.load(std::memory_order_acquire) == kLeft; }
  void set_dead(int rank) { end(rank, kDied); }
  void set_left(int rank) { end(rank, kLeft); }
  int pid(int rank) const { return lives_[rank].pid.load(std::memory_order_relaxed); }
  void set_pid(int rank, int pid) { lives_[rank].pid.store(pid, std::memory_order_relaxed); }

  std::uint64_t entered(int rank) const { return lives_[rank].entered.load(std::memory_order_relaxed); }
  void set_entered(int rank, std::uint64_t count) { lives_[rank].entered.store(count, std::memory_order_relaxed); }
  std::uint64_t call(int rank) const { return lives_[rank].call.load(std::memory_order_relaxed); }
  void set_call(int rank, std::uint64_t tag) { lives_[rank].call.store(tag, std::memory_order_relaxed); }

  // One load; true is final.
  bool has_verdict() const { return cell_->state.load(std::memory_order_acquire) != 0; }
  // The verdict, with every field checked; waits (bounded) for a writer in the middle of it, who may have died there.
  std::optional<Verdict> verdict() const;
  // The first call wins; returns the verdict that stands. Does not wake anybody.
  Verdict give(const Verdict& verdict);

 private:
  void end(int rank, std::uint32_t how) {  // the first one stays
    std::uint32_t alive = kAlive;
    lives_[rank].dead.compare_exchange_strong(alive, how, std::memory_order_acq_rel);
  }

  int ranks_ = 0;
  Life* lives_ = nullptr;  // [ranks]
  VerdictCell* cell_ = nullptr;
};

}  // namespace hcomm
