// Runs one rank's program: the only code that moves bytes.
//
//   Threads:  one at a time.
//   Blocking: never. step() does what can be done now; whoever waits decides how (comm/waiting.h).
//   Lifetime: the transport, the peer windows and the bound call outlive the run; completions live here, so the engine outlives
//             the transport's use of them.
//   Failure:  a run that fails stays failed; no new one is started after it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "engine/bound_call.h"
#include "transport/transport.h"

namespace hcomm {

class Engine {
 public:
  struct Options {
    int rank = 0;
    int ranks = 1;
    Transport* transport = nullptr;       // null for a single rank
    PeerWindows* peer_windows = nullptr;  // null: nobody exposes a window
  };
  explicit Engine(const Options& options);

  // How to store what peers read next.
  void set_shared_store(Store store) { shared_store_ = store; }

  // Begins a run; the one before must have ended well.
  void start(const BoundCall& call);

  // Moves the run on as far as it goes without waiting. Returns how much was done; 0 lets the caller idle.
  int step();

  // Between runs: gives back the memory that is kept from one to the next.
  void forget_buffers();

  bool running() const { return state_ == State::running; }
  const Status& failure() const { return failure_; }
  Rank culprit() const { return culprit_; }  // of the failure, or kNoRank

  // The latest phase that a rank has signalled in the chunk that this one is at, counted from 1; 0: none, or no window is used.
  std::uint32_t signalled_by(Rank rank) const;

  // Calls visit(peer) for each rank without which the run cannot go on now.
  template <class Visit>
  void for_each_awaited(Visit&& visit) const {
    if (state_ != State::running) return;
    for (const std::uint32_t op : pending_) {
      if (!completions_[op].finished) visit(ops_[op].peer);
    }
    if (next_ < end_ && ops_[next_].kind == OpKind::await) visit(ops_[next_].peer);
  }

 private:
  enum class State : std::uint8_t { idle, running, failed };

  void enter(Section section);
  bool leave_section();
  bool start_op(std::uint32_t index);
  bool ended(std::uint32_t index);
  void fail(const Status& why, int culprit);

  void post(std::uint32_t index);
  bool run_combine(const Op& op);
  bool combine_block(const Op& op, std::uint32_t which);
  bool expose(const Slice& target);
  void raise_step(Phase phase);
  void fetch_steps(std::uint32_t first);
  bool reached(const Op& op);
  std::uint64_t awaited_step(const Op& op) const;
  bool same_call(const Op& op);

  Extent extent(Buffer buffer, std::size_t block) const;
  const std::byte* read_address(const Slice& slice, std::uint32_t which);
  std::byte* write_address(const Slice& slice, std::uint32_t which);
  std::byte* slot_address(const Slice& slice, std::uint32_t which) const;
  const std::byte* exposed_address(const Slice& slice, std::uint32_t which);
  bool is_partial(Format format) const;
  std::size_t bytes_of(Format format) const;
  bool only_copies(const Op& op) const;
  Store store_for(const Slice& target) const;

  // Constant after construction.
  const Options options_;
  Window* const window_;  // null where there is none
  Store shared_store_ = Store::regular;

  // The run.
  State state_ = State::idle;
  Status failure_;
  Rank culprit_ = kNoRank;
  BoundCall call_;
  const CallPlan* plan_ = nullptr;
  const Op* ops_ = nullptr;
  enum class Part : std::uint8_t { prologue, body, epilogue } part_ = Part::prologue;
  std::uint32_t next_ = 0;  // op to start next, in [section first, end_]
  std::uint32_t end_ = 0;
  std::uint32_t fetched_ = 0;  // awaits before this op have had their lines fetched
  std::size_t chunk_ = 0;
  std::uint64_t epoch_ = 0;  // of this chunk; between runs, of the next one that uses the window

  std::vector<std::uint64_t> seen_;  // [rank]: the highest step of that rank that was seen; empty without a window

  // Reused from run to run, so that a repeated call allocates nothing.
  std::vector<Completion> completions_;  // by op
  std::vector<std::uint32_t> pending_;   // sends and receives of this section that were started
  std::vector<CombineSource> sources_;
  std::vector<CombineTarget> targets_;
  std::vector<Bytes> parts_;
  std::vector<ConstBytes> const_parts_;
  std::vector<std::byte> scratch_memory_;
  std::byte* scratch_ = nullptr;  // aligned into scratch_memory_
};

}  // namespace hcomm
