#include "comm/communicator.h"

#include <utility>

#include "base/process.h"
#include "comm/stores.h"
#include "comm/vector_call.h"
#include "comm/verdict_text.h"

namespace hcomm {
namespace {

// How long a first call waits for other threads to take their ranks over, before it is refused.
constexpr TimeNs kDriverPatience = 2 * kSecond;

const Clock& monotonic_clock() {
  static const MonotonicClock clock;
  return clock;
}

}  // namespace

Communicator::Communicator(Membership membership)
    : rank_(membership.rank),
      ranks_(membership.ranks),
      settings_(std::move(membership.settings)),
      kin_(membership.kin),
      transport_name_(membership.transport_name),
      process_(fork_generation()),
      clock_(membership.clock != nullptr ? *membership.clock : monotonic_clock()),
      can_map_peers_(membership.can_map_peers),
      is_checked_(settings_.check == Check::signature),
      transport_(std::move(membership.transport)),
      cache_(facts(membership), settings_),
      engine_({.rank = rank_, .ranks = ranks_, .transport = transport_.get(), .peer_windows = &peer_windows_}) {
  if (!has_to_agree()) calls_ = 1;  // the user's calls have the same numbers with an agreement and without
  engine_.set_shared_store(membership.store);
  set_shared_store(membership.store);
}

Communicator::~Communicator() = default;

SharedFacts Communicator::facts(Membership& membership) {
  SharedFacts facts{.rank = rank_, .ranks = ranks_, .layout = std::move(membership.layout)};
  if (!membership.cores.empty()) {
    const CoreCount cores = count_cores(membership.cores, rank_);
    facts.cores = cores.all;
    idle_policy_ = IdlePolicy::for_load(cores.neighbours_here, cores.here);
  }
  Window* const window = transport_ != nullptr ? transport_->window() : nullptr;
  if (window != nullptr) {
    facts.has_window = true;
    facts.slots = window->slots;
    facts.slot_bytes = window->slot_bytes;
  }
  return facts;
}

Status Communicator::standing() {
  if (process_ != fork_generation()) {
    return Status::failure(hcommInvalidUsage, "this process is the child of a fork and owns none of its parent's communicators; "
                                              "it can make its own");
  }
  const hcommResult_t failed = failed_.load(std::memory_order_acquire);
  if (failed == hcommSuccess) {
    if (transport_ == nullptr || !transport_->board().has_verdict()) return {};
    const auto verdict = transport_->board().verdict();
    return verdict ? keep(told(*verdict, "a call that had not begun")) : Status();
  }
  const std::lock_guard lock(failure_mutex_);
  return Status::failure(failed, failure_trail_);
}

// Makes a failure the one that stays, unless there is one already; returns the one that does. Any thread.
Status Communicator::keep(Status why) {
  const std::lock_guard lock(failure_mutex_);
  if (failed_.load(std::memory_order_relaxed) == hcommSuccess) {
    failure_trail_ = std::string(why.trail());
    failed_.store(why.code(), std::memory_order_release);
    return why;
  }
  return Status::failure(failed_.load(std::memory_order_relaxed), failure_trail_);
}

Status Communicator::told(const Verdict& verdict, const std::string& here) const {
  return Status::failure(result_of(verdict.reason), verdict_text(verdict, rank_, here));
}

Status Communicator::check(const CollectiveCall& call) {
  if (Status status = standing(); !status.ok()) return status;
  return check_arguments(call, rank_, ranks_);
}

Status Communicator::prepare(const CollectiveCall& call) { return std::move(cache_.find(call)).status(); }

Status Communicator::reserve() {
  if (reserved_.exchange(1, std::memory_order_acquire) != 0) {
    return Status::failure(hcommInvalidUsage, "another thread is using rank " + std::to_string(rank_) +
                                                  " of this communicator now; one thread at a time may");
  }
  if (seat_ != nullptr) seat_->take();
  return {};
}

void Communicator::release() { reserved_.store(0, std::memory_order_release); }

Status Communicator::run(const CollectiveCall& call) {
  if (Status status = check(call); !status.ok()) return status;
  if (Status status = reserve(); !status.ok()) return status;
  if (seat_ != nullptr && call.does_something()) {
    if (Status status = seat_->await_others(kDriverPatience); !status.ok()) {
      release();
      return status;
    }
  }
  Status status = begin(call);
  Communicator* const self = this;
  if (status.ok()) status = wait_for({&self, 1});
  release();
  return status;
}

Status Communicator::begin(const CollectiveCall& call) {
  Result<const CachedCall*> found = cache_.find(call);
  if (!found.ok()) return std::move(found).status();
  const CachedCall& cached = *found.value();
  current_ = call;
  waiting_since_ = 0;
  warned_late_ = false;
  last_call_ = {.algorithm = cached.algorithm,
                .transport = transport_name_,
                .schedule_hash = cached.schedule_hash,
                .chunks = cached.plan.partition.chunks(),
                .sequence = sequence_};
  BoundCall bound{.plan = &cached.plan,
                  .input = static_cast<const std::byte*>(call.send),
                  .output = static_cast<std::byte*>(call.recv),
                  .unequal = call.unequal};
  const bool may_show = call.send != call.recv || shows_input_in_place(call.collective);
  if (windows_agreed_ && cached.exposes && may_show && bound.input != nullptr) {
    const std::size_t bytes = call.unequal != nullptr ? bytes_of(call, Side::input) : cached.input_bytes;
    if (const auto window = find_window(bound.input, bytes)) {
      bound.window = *window;
      bound.windowed = true;
    }
  }
  guarded_ = !is_checked_ || call.collective != Collective::barrier || !uses_window(*cached.plan.shape);
  before_ = digest_;
  if (transport_ != nullptr) digest_ = transport_->board().set_call(rank_, own_call());
  bound.digest = is_checked_ ? digest_ : 0;
  if (tracer_ != nullptr) tracer_->call_started(trace(hcommInProgress));
  engine_.start(bound);
  if (!engine_.running()) end(hcommSuccess);  // nothing to do
  return {};
}

Status Communicator::begin_next() {
  HCOMM_ASSERT(next_queued_ < queued_.size());
  const CollectiveCall call = queued_[next_queued_];
  if (++next_queued_ == queued_.size()) forget_queue();
  return begin(call);
}

void Communicator::forget_queue() {
  queued_.clear();  // keeps its memory
  next_queued_ = 0;
}

CallTrace Communicator::trace(hcommResult_t result) const {
  return {.sequence = sequence_,
          .schedule_hash = last_call_.schedule_hash,
          .algorithm = last_call_.algorithm,
          .bytes = current_.count * element_bytes(current_.dtype),
          .chunks = last_call_.chunks,
          .result = result};
}

void Communicator::end(hcommResult_t result) {
  if (tracer_ != nullptr) tracer_->call_ended(trace(result));
  ++sequence_;
  ++calls_;
}

void Communicator::abort() {
  const std::string what = "rank " + std::to_string(rank_) + " aborted this communicator; destroy it";
  static_cast<void>(keep(Status::failure(hcommAborted, what)));
  if (transport_ == nullptr || process_ != fork_generation()) return;
  Board& board = transport_->board();
  board.give({.reason = Reason::aborted, .culprit = rank_, .pid = board.pid(rank_), .host = board.host(rank_), .writer = rank_});
  transport_->alarm();
}

hcommResult_t Communicator::async_error() const {
  const hcommResult_t failed = failed_.load(std::memory_order_acquire);
  if (failed != hcommSuccess || transport_ == nullptr || process_ != fork_generation()) return failed;
  const auto verdict = transport_->board().verdict();
  return verdict ? result_of(verdict->reason) : hcommSuccess;
}

std::string Communicator::failure_text() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_trail_;
}

}  // namespace hcomm
