#include "engine/engine.h"

#include <string>

#include "base/assert.h"

namespace hcomm {
namespace {

// Scratch for whole blocks of a V variant may be as large as they are.
constexpr std::size_t kMostKept = 32u << 20;

// Blocks that follow one another in memory are one part of a message.
template <class Part>
void append(std::vector<Part>& parts, Part next) {
  if (!parts.empty() && parts.back().data() + parts.back().size() == next.data()) {
    parts.back() = {parts.back().data(), parts.back().size() + next.size()};
  } else {
    parts.push_back(next);
  }
}

}  // namespace

Engine::Engine(const Options& options)
    : options_(options),
      window_(options.transport != nullptr ? options.transport->window() : nullptr),
      seen_(window_ != nullptr ? static_cast<std::size_t>(options.ranks) : 0, 0) {}

void Engine::start(const BoundCall& call) {
  HCOMM_ASSERT(state_ == State::idle);
  call_ = call;
  plan_ = call.plan;
  const Program& program = *plan_->program;
  HCOMM_ASSERT(!uses_window(*plan_->shape) || window_ != nullptr);
  if (plan_->partition.chunks() == 0) return;

  ops_ = program.ops.data();
  if (completions_.size() < program.ops.size()) completions_.resize(program.ops.size());
  if (scratch_memory_.size() < plan_->scratch_bytes + kCacheLineBytes) {
    scratch_memory_.resize(plan_->scratch_bytes + kCacheLineBytes);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(scratch_memory_.data());
  scratch_ = scratch_memory_.data() + (round_up(address, kCacheLineBytes) - address);
  chunk_ = 0;
  part_ = Part::prologue;
  state_ = State::running;
  enter(program.prologue);
}

void Engine::forget_buffers() {
  HCOMM_ASSERT(state_ == State::idle);
  completions_ = std::vector<Completion>();
  pending_ = std::vector<std::uint32_t>();
  sources_ = std::vector<CombineSource>();
  targets_ = std::vector<CombineTarget>();
  parts_ = std::vector<Bytes>();
  const_parts_ = std::vector<ConstBytes>();
  scratch_memory_ = std::vector<std::byte>();
  scratch_ = nullptr;
}

void Engine::enter(Section section) {
  next_ = section.first;
  fetched_ = section.first;
  end_ = section.first + section.count;
  pending_.clear();
}

int Engine::step() {
  int work = 0;
  if (state_ == State::running && !pending_.empty()) work += options_.transport->poll();
  while (state_ == State::running) {
    if (next_ == end_ ? !leave_section() : !start_op(next_)) break;
    ++work;
  }
  return work;
}

// The end of a section, or of one iteration of the body: everything that was started has ended.
bool Engine::leave_section() {
  for (const std::uint32_t index : pending_) {
    if (!ended(index)) return false;
  }
  const Program& program = *plan_->program;
  switch (part_) {
    case Part::prologue:
      part_ = Part::body;
      enter(program.body);
      break;
    case Part::body:
      if (++chunk_ < plan_->partition.chunks()) {
        if (uses_window(*plan_->shape)) ++epoch_;
        enter(program.body);
      } else {
        --chunk_;  // the epilogue belongs to the last chunk
        part_ = Part::epilogue;
        enter(program.epilogue);
      }
      break;
    case Part::epilogue:
      if (uses_window(*plan_->shape)) ++epoch_;
      pending_.clear();
      if (scratch_memory_.size() > kMostKept) scratch_memory_ = std::vector<std::byte>();
      state_ = State::idle;
      return false;
  }
  return true;
}

// Whether a send or receive has ended. Its failure fails the run.
bool Engine::ended(std::uint32_t index) {
  Completion& completion = completions_[index];
  if (!completion.finished) return false;
  if (!completion.status.ok()) {
    fail(completion.status, ops_[index].peer);
    return false;
  }
  return true;
}

void Engine::fail(const Status& why, int culprit) {
  state_ = State::failed;
  culprit_ = culprit;
  failure_ = Status::failure(why.code(), why.trail());
}

// False when the op cannot start yet, or failed.
bool Engine::start_op(std::uint32_t index) {
  const Op& op = ops_[index];
  for (const std::uint32_t wait : plan_->program->waits_of(op)) {
    if (!ended(wait)) return false;
  }
  switch (op.kind) {
    case OpKind::send:
    case OpKind::recv:
      post(index);
      break;
    case OpKind::combine:
      if (!run_combine(op)) return false;
      break;
    case OpKind::signal:
      raise_step(op.phase);
      break;
    case OpKind::await:
      if (!reached(op)) return false;
      if (index >= fetched_) fetch_steps(index + 1);
      if (!same_call(op)) return false;
      break;
  }
  if (state_ != State::running) return false;
  ++next_;
  return true;
}

void Engine::post(std::uint32_t index) {
  const Op& op = ops_[index];
  Completion& completion = completions_[index];
  completion.finished = false;
  completion.status = Status();
  pending_.push_back(index);
  Channel& channel = options_.transport->channel(op.peer, op.lane);
  if (op.kind == OpKind::send) {
    const Slice& source = plan_->program->sources(op).front();
    const_parts_.clear();
    for (std::uint32_t which = 0; which < source.count; ++which) {
      const std::size_t length = extent(source.buffer, source.first + which).length;
      const std::byte* const data = length > 0 ? read_address(source, which) : nullptr;
      if (state_ != State::running) return;
      if (length > 0) append(const_parts_, {data, length * bytes_of(source.format)});
    }
    channel.send(const_parts_, call_.digest, completion);
  } else {
    const Slice& target = plan_->program->targets(op).front();
    parts_.clear();
    for (std::uint32_t which = 0; which < target.count; ++which) {
      const std::size_t length = extent(target.buffer, target.first + which).length;
      if (length > 0) append(parts_, {write_address(target, which), length * bytes_of(target.format)});
    }
    channel.recv(parts_, call_.digest, completion);
  }
}

void Engine::raise_step(Phase phase) {
  const std::uint64_t value = step_value(epoch_, phase);
  std::atomic<std::uint64_t>& step = window_->steps[options_.rank].step;
  HCOMM_ASSERT(step.load(std::memory_order_relaxed) < value);
  if (phase == Phase::filled) {
    window_->digest(options_.rank, epoch_).store(call_.digest, std::memory_order_relaxed);
  }
  step.exchange(value, std::memory_order_seq_cst);  // before the look at who sleeps
  for (int peer = 0; peer < options_.ranks; ++peer) {
    if (window_->doorbells[peer].sleeping.load(std::memory_order_seq_cst) != 0 && peer != options_.rank) ring(*window_, peer);
  }
}

// Whether a peer that has filled its slot did so for this very call. A digest is part of the slot: it is written before the
// step says `filled`, and stays until all who await that have finished. So a wrong call is known before a byte of it is used.
bool Engine::same_call(const Op& op) {
  if (op.phase != Phase::filled || op.back != 0) return true;
  if (window_->digest(op.peer, epoch_).load(std::memory_order_relaxed) == call_.digest) return true;
  const std::string what = "what rank " + std::to_string(op.peer) + " has put into its slot is of another call";
  fail(Status::failure(hcommMismatch, what), op.peer);
  return false;
}

std::uint32_t Engine::signalled_by(Rank rank) const {
  if (state_ != State::running || !uses_window(*plan_->shape)) return 0;
  const std::uint64_t step = window_->steps[rank].step.load(std::memory_order_relaxed);
  return step / kStepsPerEpoch == epoch_ ? static_cast<std::uint32_t>(step % kStepsPerEpoch) : 0;
}

// Once the first of a row of awaits is there, the lines of the others are fetched together; one after the other they would
// cost a transfer each. (Before that, their owners are likely still to write them.)
void Engine::fetch_steps(std::uint32_t first) {
  std::uint32_t index = first;
  for (; index < end_ && ops_[index].kind == OpKind::await; ++index) {
    const auto peer = static_cast<std::size_t>(ops_[index].peer);
    if (seen_[peer] < awaited_step(ops_[index])) __builtin_prefetch(&window_->steps[peer]);
  }
  fetched_ = index;
}

// What an await waits for; 0 before the first epoch, when there was nothing to wait for.
std::uint64_t Engine::awaited_step(const Op& op) const { return epoch_ < op.back ? 0 : step_value(epoch_ - op.back, op.phase); }

// Steps only grow, so one that was seen need not be looked at again: that would fetch a line which its owner is about to write.
bool Engine::reached(const Op& op) {
  const std::uint64_t wanted = awaited_step(op);
  std::uint64_t& seen = seen_[static_cast<std::size_t>(op.peer)];
  if (seen < wanted) seen = window_->steps[op.peer].step.load(std::memory_order_acquire);
  return seen >= wanted;
}

}  // namespace hcomm
