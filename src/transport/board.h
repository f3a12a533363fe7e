// What all ranks of a communicator on one host can see of its health. Lies in shared memory; anybody may write, so nothing
// in it is trusted as an index or a length.
//
// A death is a fact about one rank; it becomes the communicator's failure only when somebody who needs that rank writes
// the verdict. There is one verdict; the first writer wins, and every waiter returns it.
//
// Where ranks share no memory, each keeps a board of its own, and its transport writes into it what the others tell of
// themselves. So whatever a rank says of itself may be set for any rank, and only grows.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "transport/call_words.h"
#include "transport/verdict.h"

namespace hcomm {

// What the low bits of Life::dead say; those above, how many were gone before. A rank that left closed its transport in good
// order; for who still waits for it, it is gone, too. Of one that is missing nobody has seen the end: it is not where it was.
inline constexpr std::uint32_t kAlive = 0;
inline constexpr std::uint32_t kDied = 1;
inline constexpr std::uint32_t kLeft = 2;
inline constexpr std::uint32_t kMissing = 3;
inline constexpr std::uint32_t kHowBits = 2;

inline constexpr std::size_t kRecentCalls = 3;  // that are remembered of each rank

// One line per rank, written by the rank alone but for `dead`, which is raised by whoever finds out.
struct alignas(128) Life {
  struct Call {  // of a number that follows from its place
    std::atomic<std::uint64_t> kind{0};
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> before{0};
  };

  std::atomic<std::uint32_t> dead{0};
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint64_t> entered{0};  // calls it has begun; says who is late
  std::atomic<std::uint64_t> digest{0};   // of the latest one; says who made another call, and whether `recent` is whole
  std::atomic<std::uint64_t> beat{0};     // grows while the rank is at work or waits inside a call
  std::array<std::atomic<std::uint64_t>, 2> host{};  // a HostName
  std::array<Call, kRecentCalls> recent;  // [number % kRecentCalls]
};
static_assert(sizeof(Life) == 128);

struct VerdictCell {
  std::atomic<std::uint32_t> state{0};  // 0 open, 1 being written, 2 written, 3 its writer was given up
  std::array<std::atomic<std::uint64_t>, kVerdictWords> words{};
};

class Board {
 public:
  Board() = default;
  Board(int ranks, Life* lives, VerdictCell* cell) : ranks_(ranks), lives_(lives), cell_(cell) {}

  bool is_dead(int rank) const { return lives_[rank].dead.load(std::memory_order_acquire) != 0; }
  bool has_left(int rank) const { return how_gone(rank) == kLeft; }
  bool is_missing(int rank) const { return how_gone(rank) == kMissing; }
  void set_dead(int rank) { end(rank, kDied); }
  void set_left(int rank) { end(rank, kLeft); }
  void set_missing(int rank) { end(rank, kMissing); }
  // Of those that died or are missing, the first; kNoRank if there is none.
  Rank first_to_die() const;
  int pid(int rank) const { return lives_[rank].pid.load(std::memory_order_relaxed); }
  void set_pid(int rank, int pid) { lives_[rank].pid.store(pid, std::memory_order_relaxed); }
  HostName host(int rank) const;
  void set_host(int rank, const HostName& host);

  // The rank begins this call, or is known to have begun it. Returns the call's digest.
  std::uint64_t set_call(int rank, const CallWords& words) {
    Life& life = lives_[rank];
    Life::Call& call = life.recent[words.number % kRecentCalls];
    const PackedCall packed = pack(words);
    const std::uint64_t digest = call_digest(packed);
    call.kind.store(packed.kind, std::memory_order_relaxed);
    call.count.store(packed.count, std::memory_order_relaxed);
    call.before.store(packed.before, std::memory_order_relaxed);
    if (words.number < life.entered.load(std::memory_order_relaxed)) return digest;
    life.digest.store(digest, std::memory_order_release);
    life.entered.store(words.number + 1, std::memory_order_release);
    return digest;
  }
  std::uint64_t entered(int rank) const { return lives_[rank].entered.load(std::memory_order_acquire); }
  std::uint64_t digest(int rank) const { return lives_[rank].digest.load(std::memory_order_relaxed); }
  // The rank's latest call, or one of the last kRecentCalls. Null if there is none, it is no longer there, or what is there
  // does not have the digest that it should: half written, or made up.
  std::optional<CallWords> call(int rank) const;
  std::optional<CallWords> call(int rank, std::uint64_t number) const;

  std::uint64_t beat(int rank) const { return lives_[rank].beat.load(std::memory_order_relaxed); }
  void set_beat(int rank, std::uint64_t beat) {
    if (beat > lives_[rank].beat.load(std::memory_order_relaxed)) lives_[rank].beat.store(beat, std::memory_order_relaxed);
  }

  // One load; true is final.
  bool has_verdict() const { return cell_->state.load(std::memory_order_acquire) != 0; }
  // The verdict, with every field checked; waits (bounded) for a writer in the middle of it, who may have died there.
  std::optional<Verdict> verdict() const;
  // The first call wins; returns the verdict that stands. Does not wake anybody.
  Verdict give(const Verdict& verdict);

 private:
  std::uint32_t how_gone(int rank) const {
    return lives_[rank].dead.load(std::memory_order_acquire) & ((1u << kHowBits) - 1);
  }
  void end(int rank, std::uint32_t how);
  std::optional<CallWords> look_up(int rank, std::uint64_t entered, std::uint64_t number) const;

  int ranks_ = 0;
  Life* lives_ = nullptr;  // [ranks]
  VerdictCell* cell_ = nullptr;
};

// Where two ranks' calls part: the first number at which they differ.
struct Parting {
  CallWords one;
  CallWords other;
};

// Of two ranks, as far as their last calls are remembered; null if they have not parted, or nobody can say.
std::optional<Parting> find_parting(const Board& board, int one, int other);

}  // namespace hcomm
