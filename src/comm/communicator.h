// One rank's end of a communicator.
//
//   Threads:  one at a time; a second one is refused. Only abort(), async_error() and failure_text() may be called at any time.
//   Blocking: run(), agree() and wait_for(), until the call has completed or failed; everything else is bounded.
//   Lifetime: owns its transport; ends without waiting for anybody.
//   Failure:  the first failure stays; every later call returns it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/idle.h"
#include "base/knobs.h"
#include "base/status.h"
#include "base/tracer.h"
#include "comm/arguments.h"
#include "comm/call_cache.h"
#include "comm/call_info.h"
#include "comm/core_use.h"
#include "comm/drivers.h"
#include "comm/init_times.h"
#include "engine/engine.h"
#include "net/mac.h"
#include "transport/local_memory.h"
#include "transport/transport.h"

namespace hcomm {

// What a communicator is made of.
struct Membership {
  int rank = 0;
  int ranks = 1;
  Settings settings;
  std::unique_ptr<Transport> transport;    // null for a single rank
  std::string_view transport_name = "self";  // static
  bool can_map_peers = false;              // this rank can map its peers' windows
  RankLayout layout = {};                  // which ranks are on one host
  std::vector<CoreUse> cores = {};         // [rank]; empty: nothing is known, and each rank counts as alone on one core
  Secret kin{};                            // what only the ranks of this communicator know, for those that are made from it
  Store store = Store::regular;            // how best to write what another process reads; the same on all ranks
  const Clock* clock = nullptr;            // borrowed; null: CLOCK_MONOTONIC
};

class Communicator {
 public:
  explicit Communicator(Membership membership);
  ~Communicator();

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const Settings& settings() const { return settings_; }
  const Secret& kin() const { return kin_; }

  // Finds out with all ranks what all must decide alike or, without a window, makes the ways that news of a failure will take.
  // Collective; before any other call.
  // In two parts, so that one thread can make several ranks: begin on each, wait_for() all, finish on each.
  Status begin_agreement();
  Status finish_agreement();

  // One blocking collective.
  Status run(const CollectiveCall& call);

  // The pieces of run(), for groups: check, reserve for this thread, queue calls, wait_for() several communicators.
  Status check(const CollectiveCall& call);
  Status prepare(const CollectiveCall& call);  // that an algorithm serves it
  Status reserve();
  void release();
  void queue(const CollectiveCall& call) { queued_.push_back(call); }

  // Of a reserved communicator, without waiting: one turn of what is queued or running, then a look at health as after a long
  // pause. True when nothing is left. So one thread can drive many ranks, by whatever clock.
  Result<bool> nudge();

  void abort();
  hcommResult_t async_error() const;
  std::string failure_text() const;

  const CallInfo& last_call() const { return last_call_; }
  const InitTimes& init_times() const { return init_times_; }
  void set_init_times(const InitTimes& times) { init_times_ = times; }
  // In messages to and from a peer since the communicator was made; what goes through windows is no message.
  Traffic traffic(int peer) const { return transport_ != nullptr && peer != rank_ ? transport_->traffic(peer) : Traffic(); }
  void set_tracer(Tracer* tracer) { tracer_ = tracer; }  // borrowed; null is none
  void sit_down(std::unique_ptr<DriverSeat> seat) { seat_ = std::move(seat); }  // ranks of one process (init-all)

 private:
  friend Status wait_for(std::span<Communicator* const> communicators);
  friend Status give_up(std::span<Communicator* const> communicators, Status why);

  Status standing();  // the failure that stays, if any
  Status keep(Status why);
  Status told(const Verdict& verdict, const std::string& here) const;
  Status begin(const CollectiveCall& call);
  Status begin_next();
  void forget_queue();
  CallTrace trace(hcommResult_t result) const;
  void end(hcommResult_t result);
  SharedFacts facts(Membership& membership);
  bool has_to_agree() const;
  int reach();
  Status check_reach();
  TimeNs waited_until(TimeNs now);

  bool busy() const {
    return reaching_ || engine_.running() || !engine_.failure().ok() || stranger_ >= 0 || next_queued_ < queued_.size();
  }
  CallWords own_call() const { return words_of(current_, calls_, before_); }  // the current one
  Result<int> turn();
  Result<int> end_failed_run();
  int advance();
  void abandon();
  void pass_time(IdleAct act, TimeNs most);
  TimeNs timeout() const;
  TimeNs next_look() const;

  // A look at health (health.cc): verdicts, calls that do not fit, deaths, time.
  void show_life() {
    if (transport_ != nullptr) transport_->board().set_beat(rank_, ++beat_);
  }
  Status check_health();
  Status check_time();
  bool can_tell(Rank other);
  Rank stranger() const;
  std::vector<Rank> late_ranks() const;
  Rank stuck_rank(TimeNs now);
  void warn_late(TimeNs waited);
  Verdict about(Reason reason, Rank culprit) const;
  Verdict mismatch_with(Rank other) const;
  Status judge(const Verdict& verdict);
  Status fail(Status why);

  // Constant after the agreement.
  const int rank_;
  const int ranks_;
  const Settings settings_;
  const Secret kin_;
  const std::string_view transport_name_;
  const std::uint32_t process_;  // the fork generation it was made in
  const Clock& clock_;
  const bool can_map_peers_;
  IdlePolicy idle_policy_;
  const bool is_checked_;  // calls are compared
  bool windows_agreed_ = false;
  InitTimes init_times_;
  std::unique_ptr<DriverSeat> seat_;  // null unless init-all made it

  std::atomic<std::uint32_t> reserved_{0};  // 1 while a thread is inside

  // Of the thread inside.
  std::unique_ptr<Transport> transport_;
  PeerWindows peer_windows_;
  CallCache cache_;
  std::vector<CollectiveCall> queued_;  // [next_queued_, size): not yet begun
  std::size_t next_queued_ = 0;
  CollectiveCall current_;
  std::uint64_t sequence_ = 0;  // of the current or next operation
  std::uint64_t calls_ = 0;     // that were begun before it, the agreement included, also where there was none
  std::uint64_t before_ = 0;    // the digest of the call before the current one
  std::uint64_t digest_ = 0;    // of the current or latest call
  bool guarded_ = false;        // whatever the current call takes from a peer comes with the digest of the peer's call
  Rank stranger_ = kNoRank;        // who made another call than this rank, found when it had ended
  TimeNs waiting_since_ = 0;    // 0: the clock has not been read since the last progress
  TimeNs next_inquiry_ = 0;
  TimeNs tell_by_ = 0;          // when a mismatch is told, even if not both calls are known; 0: there is none
  bool warned_late_ = false;
  std::uint64_t beat_ = 0;
  struct Watch {                // of one peer
    std::uint64_t call = 0;     // its number, and this rank's, when it was first looked at
    std::uint64_t beat = 0;
    std::uint64_t step = 0;
    TimeNs since = 0;           // both stand still, and
    int looks = 0;              // in so many looks
  };
  std::vector<Watch> watches_;  // [rank]
  CallInfo last_call_;
  Tracer* tracer_ = nullptr;
  bool agreeing_ = false;            // the communicator is being made,
  bool reaching_ = false;            // and the ways to its peers
  std::int64_t all_can_map_ = 0;
  Engine engine_;                        // last: it borrows from the members above

  // Any thread.
  std::atomic<hcommResult_t> failed_{hcommSuccess};
  mutable std::mutex failure_mutex_;  // guards failure_trail_
  std::string failure_trail_;
};

// Runs what is queued on the communicators, all from this thread, until all is done or one has failed. Each is reserved.
Status wait_for(std::span<Communicator* const> communicators);

}  // namespace hcomm
