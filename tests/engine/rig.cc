#include "rig.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "comm/oracle.h"
#include "kernels/combine.h"
#include "transport/local_memory.h"
#include "transport/loopback.h"
#include "transport/shm.h"

namespace hcomm::testing {
namespace {

constexpr std::size_t kCanary = 64;
constexpr std::byte kAlive{0xc5};
constexpr std::byte kSpoiled{0x3a};

// So that every algorithm's slots have room for the longest units, in the wider format of 16-bit floats, too.
std::size_t slot_bytes(const WorldSpec& spec) {
  int units = 1;
  for (const Algorithm* const each : algorithms()) {
    const Problem problem{.collective = each->collective, .ranks = spec.ranks, .slots = spec.slots};
    if (each->supports(problem)) units = std::max(units, each->shape(problem).slot_units);
  }
  return static_cast<std::size_t>(units) * kMostUnitLines * 2 * kCacheLineBytes;
}

template <class T>
T held(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(std::string(result.status().trail()));
  return std::move(result).value();
}

std::vector<std::unique_ptr<Transport>> open_world(const WorldSpec& spec) {
  const std::size_t bytes = slot_bytes(spec);
  if (!spec.shared_memory) return held(open_loopback({.ranks = spec.ranks, .slots = spec.slots, .slot_bytes = bytes}));
  constexpr std::size_t kRing = 1024;  // messages of many chunks stream through
  const int segment = held(create_segment(shm_segment_bytes(spec.ranks, spec.slots, bytes, kRing, 1)));
  std::vector<std::unique_ptr<Transport>> opened;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    opened.push_back(held(open_shm({.segment_fd = segment,
                                    .rank = rank,
                                    .ranks = spec.ranks,
                                    .slots = spec.slots,
                                    .slot_bytes = bytes,
                                    .ring_bytes = kRing})));
  }
  close(segment);
  return opened;
}

bool has(std::uint32_t mask, int rank) { return (mask >> rank & 1) != 0; }

// The oracle's numbers, shifted by so many places from call to call: what an earlier call left behind is wrong in this one.
std::vector<std::byte> without_first(std::vector<std::byte> all, const CollectiveCall& call, std::size_t shift) {
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shift * element_bytes(call.dtype)));
  return all;
}

CollectiveCall whole(const CollectiveCall& call, int ranks, std::size_t shift) {
  CollectiveCall all = call;
  all.collective = Collective::allreduce;
  all.count = send_elements(call, ranks) + shift;
  return all;
}

std::vector<std::byte> input_of(const CollectiveCall& call, int rank, int ranks, std::size_t shift) {
  return without_first(make_input(whole(call, ranks, shift), rank, ranks), call, shift);
}

std::vector<std::byte> output_of(const CollectiveCall& call, int rank, int ranks, std::size_t shift) {
  const auto part = static_cast<std::ptrdiff_t>(call.count * element_bytes(call.dtype));
  std::vector<std::byte> output;
  switch (call.collective) {
    case Collective::reduce:
      if (rank != call.root) return output;
      [[fallthrough]];
    case Collective::allreduce:
      return without_first(expected_output(whole(call, ranks, shift), rank, ranks), call, shift);
    case Collective::reduce_scatter:
      output = without_first(expected_output(whole(call, ranks, shift), rank, ranks), call, shift);
      return {output.begin() + rank * part, output.begin() + (rank + 1) * part};
    case Collective::broadcast:
      return input_of(call, call.root, ranks, shift);
    case Collective::scatter:
      output = input_of(call, call.root, ranks, shift);
      return {output.begin() + rank * part, output.begin() + (rank + 1) * part};
    case Collective::alltoall:
      for (int peer = 0; peer < ranks; ++peer) {
        const std::vector<std::byte> all = input_of(call, peer, ranks, shift);
        output.insert(output.end(), all.begin() + rank * part, all.begin() + (rank + 1) * part);
      }
      return output;
    case Collective::gather:
      if (rank != call.root) return output;
      [[fallthrough]];
    case Collective::allgather:
      for (int peer = 0; peer < ranks; ++peer) std::ranges::copy(input_of(call, peer, ranks, shift), std::back_inserter(output));
      return output;
    case Collective::barrier:
      return output;
  }
  unreachable();
}

// What the two formats of a task need of a unit.
CallPlan make_plan(const Task& task, const Template& schedule) {
  CallPlan plan{.problem = &schedule.problem, .shape = &schedule.shape, .program = &schedule.program};
  const hcommDataType_t dtype = task.call.dtype;
  plan.element_bytes = element_bytes(dtype);
  plan.partial_bytes = plan.element_bytes;
  if (reduces(task.call.collective)) {
    plan.partial_bytes = partial_bytes(dtype, task.call.op);
    plan.sums_are_elements = sums_fit_elements(dtype, task.call.op);
    const int ranks = schedule.problem.ranks;
    if (needs_finish(dtype, task.call.op, ranks)) plan.finish_over = ranks;
  }
  const std::size_t granule = std::max<std::size_t>(kCacheLineBytes / plan.element_bytes, 1);
  const std::size_t unit = task.unit_lines * granule;
  const std::size_t widest =
      schedule.shape.scratch_units > 0 ? std::max(plan.element_bytes, plan.partial_bytes) : plan.element_bytes;
  plan.partition = Partition(schedule.problem, schedule.shape, task.call.count, unit, granule);
  plan.unit_bytes = round_up(unit * widest, kCacheLineBytes);
  plan.scratch_bytes = static_cast<std::size_t>(schedule.shape.scratch_units) * plan.unit_bytes;
  const auto blocks = is_strided(task.call.collective) ? 1 : static_cast<std::size_t>(schedule.shape.blocks);
  const std::size_t longest = (task.call.count + blocks - 1) / blocks;
  plan.inline_slots = task.may_inline && schedule.shape.slot_units == 1 && plan.partition.chunks() == 1 &&
                      longest * plan.element_bytes <= StepLine::payload_bytes(schedule.problem.slots);
  if (reduces(task.call.collective)) plan.combine = held(find_combine(dtype, task.call.op));
  return plan;
}

}  // namespace

std::string describe(const WorldSpec& spec) {
  return std::string(spec.shared_memory ? "shm" : "loopback") + ", " + std::to_string(spec.ranks) + " ranks, " +
         std::to_string(spec.slots) + " slots, faults " + std::string(spec.faults.name) + ", seed " + std::to_string(spec.seed);
}

std::string describe(const Task& task) {
  return std::string(task.algorithm->name) + " " + std::string(name(task.call.collective)) + " of " +
         std::to_string(task.call.count) + " " + std::string(name(task.call.dtype)) + ", " + std::string(name(task.call.op)) +
         ", root " + std::to_string(task.call.root) + ", units of " + std::to_string(task.unit_lines) + " lines, windows " +
         std::to_string(task.windowed) + ", in place " + std::to_string(task.in_place) +
         (task.may_inline ? "" : ", never inline");
}

Arena::~Arena() {
  if (!window_.empty()) static_cast<void>(free_window(window_.data()));
}

std::span<std::byte> Arena::take(std::size_t bytes, bool windowed) {
  if (bytes > kMostCallBytes) throw std::logic_error("a task too large for its memory");
  const std::size_t all = kMostCallBytes + 2 * kCanary;
  if (windowed && window_.empty()) window_ = {static_cast<std::byte*>(held(allocate_window(all))), all};
  if (!windowed && private_.empty()) private_.resize(all);
  const std::span<std::byte> room = (windowed ? window_ : std::span(private_)).first(bytes + 2 * kCanary);
  std::ranges::fill(room, kAlive);
  taken_ = room.subspan(kCanary, bytes);
  return taken_;
}

bool Arena::canaries_live() const {
  const auto alive = [](std::byte each) { return each == kAlive; };
  return std::all_of(taken_.data() - kCanary, taken_.data(), alive) &&
         std::all_of(taken_.data() + taken_.size(), taken_.data() + taken_.size() + kCanary, alive);
}

void Arena::spoil() { std::ranges::fill(taken_, kSpoiled); }

DrivenRank::DrivenRank(const WorldSpec& spec, int rank, std::unique_ptr<Transport> transport)
    : rank_(rank),
      ranks_(spec.ranks),
      slots_(spec.slots),
      transport_(std::move(transport)),
      engine_({.rank = rank,
               .ranks = spec.ranks,
               .transport = transport_.get(),
               .peer_windows = spec.maps_windows ? &peer_windows_ : nullptr}) {}

BoundCall DrivenRank::bind(const Task& task) {
  const CollectiveCall& call = task.call;
  const Problem problem{.collective = call.collective, .ranks = ranks_, .root = call.root, .slots = slots_};
  plan_ = make_plan(task, templates_.find(*task.algorithm, problem, rank_));
  engine_.set_shared_store(task.store);
  bound_ = {.plan = &plan_};

  const bool reads = has_input(call.collective, rank_ == call.root);
  const bool in_place = has(task.in_place, rank_);
  const bool windowed = has(task.windowed, rank_) && (!in_place || shows_input_in_place(call.collective));
  const std::size_t shift = calls_++ % 61;
  input_ = reads ? input_of(call, rank_, ranks_, shift) : std::vector<std::byte>();
  expected_ = output_of(call, rank_, ranks_, shift);
  const std::size_t part = call.count * plan_.element_bytes;
  std::span<std::byte> send;
  std::span<std::byte> recv;
  if (in_place) {
    const std::span<std::byte> both = recv_.take(std::max(input_.size(), expected_.size()), windowed);
    send = both.subspan(part * part_in_place(call, Side::input, rank_), input_.size());
    recv = both.subspan(part * part_in_place(call, Side::output, rank_), expected_.size());
    static_cast<void>(send_.take(0, false));
  } else {
    send = send_.take(input_.size(), windowed);
    recv = recv_.take(expected_.size(), false);
  }
  std::ranges::copy(input_, send.begin());
  bound_.input = reads ? send.data() : nullptr;
  bound_.output = recv.data();
  if (in_place) input_.clear();
  if (windowed && reads && !send.empty() && !plan_.inline_slots) {
    bound_.window = find_window(send.data(), send.size()).value();
    bound_.windowed = true;
  }
  return bound_;
}

std::string DrivenRank::finish() {
  std::string wrong;
  if (!std::equal(expected_.begin(), expected_.end(), bound_.output)) wrong = "a wrong result";
  if (!input_.empty() && !std::equal(input_.begin(), input_.end(), bound_.input)) wrong = "the input was changed";
  if (!send_.canaries_live() || !recv_.canaries_live()) wrong = "memory around a buffer was changed";
  send_.spoil();
  recv_.spoil();
  return wrong;
}

std::uint32_t DrivenRank::awaited() const {
  std::uint32_t peers = 0;
  engine_.for_each_awaited([&](int peer) { peers |= 1u << peer; });
  return peers;
}

World::World(const WorldSpec& spec)
    : spec_(spec), random_(spec.seed), blocked_(static_cast<std::size_t>(spec.ranks)) {
  auto transports = open_world(spec);
  for (int rank = 0; rank < spec.ranks; ++rank) {
    auto moody = make_faulty(std::move(transports[static_cast<std::size_t>(rank)]), spec.faults,
                             spec.seed * 16 + static_cast<std::uint64_t>(rank));
    ranks_.push_back(std::make_unique<DrivenRank>(spec, rank, std::move(moody)));
    constexpr std::uint64_t kPaces[] = {1, 4, 16};
    weights_.push_back(kPaces[random_.below(3)]);
  }
}

std::string World::run(std::span<const Task> tasks) {
  constexpr std::uint64_t kMostTurns = 1'000'000;  // of a task; some thousands are usual
  const std::size_t count = ranks_.size();
  std::vector<std::size_t> done(count, 0);
  std::vector<std::size_t> begun(count, 0);
  for (std::uint64_t turns = 0; std::ranges::any_of(done, [&](std::size_t each) { return each < tasks.size(); }); ++turns) {
    if (turns > kMostTurns * tasks.size()) return "the tasks did not end";
    const int which = draw(done, tasks.size());
    const auto index = static_cast<std::size_t>(which);
    const Task& task = tasks[done[index]];
    const bool begins = begun[index] == done[index];
    if (begins) {
      ++begun[index];
      seen_.ahead += std::ranges::min(done) < done[index];
    }
    std::string wrong = turn(which, task, begins);
    if (!wrong.empty()) return "rank " + std::to_string(which) + ": " + wrong + " in " + describe(task);
    if (!rank(which).engine().running()) ++done[index];
  }
  return {};
}

// One of the ranks that still have something to do, by weight.
int World::draw(const std::vector<std::size_t>& done, std::size_t tasks) {
  std::uint64_t sum = 0;
  for (std::size_t rank = 0; rank < done.size(); ++rank) sum += done[rank] < tasks ? weights_[rank] : 0;
  std::uint64_t drawn = random_.below(sum);
  for (std::size_t rank = 0; rank < done.size(); ++rank) {
    const std::uint64_t weight = done[rank] < tasks ? weights_[rank] : 0;
    if (drawn < weight) return static_cast<int>(rank);
    drawn -= weight;
  }
  throw std::logic_error("nobody was drawn");
}

std::string World::turn(int which, const Task& task, bool begins) {
  DrivenRank& one = rank(which);
  if (begins) {
    one.begin(task);
    seen_.slots_reused += uses_window(*one.plan().shape) && one.plan().partition.chunks() > static_cast<std::size_t>(spec_.slots);
    seen_.inlined += one.plan().inline_slots && task.call.count > 0;
    seen_.windowed += has(task.windowed, which);
  }
  const int work = one.step();
  if (!one.engine().failure().ok()) return std::string(one.engine().failure().trail());
  std::string wrong = check_wait(which, work, begins);
  for (std::uint32_t& blocked : blocked_) {
    if (has(blocked, which)) blocked = 0;
  }
  if (wrong.empty() && !one.engine().running()) wrong = one.finish();
  return wrong;
}

// Who waits says for whom, and does not move before one of those has had its turn.
std::string World::check_wait(int which, int work, bool begins) {
  std::uint32_t& blocked = blocked_[static_cast<std::size_t>(which)];
  const bool still = blocked != 0 && !begins && spec_.faults.name == "none" && !spec_.shared_memory;
  if (still && work != 0) return "it moved although nobody it waits for did";
  blocked = 0;
  const std::uint32_t awaited = rank(which).awaited();
  if (!rank(which).engine().running()) return awaited == 0 ? "" : "it waits for somebody after its end";
  if (work != 0) return {};
  ++seen_.waits;
  if (awaited == 0) return "it waits for nobody";
  if (awaited >> spec_.ranks != 0 || has(awaited, which)) return "it waits for an impossible rank";
  blocked = awaited;
  return {};
}

}  // namespace hcomm::testing
