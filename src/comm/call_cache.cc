#include "comm/call_cache.h"

#include <algorithm>
#include <utility>

#include "transport/window.h"

namespace hcomm {
namespace {

// Whether this rank's program shows its input to peers.
bool shows_input(const Program& program) {
  return std::ranges::any_of(program.ops, [&](const Op& op) {
    return op.kind == OpKind::combine && program.targets(op).front().buffer == Buffer::exposed;
  });
}

// Slots are sized for elements; a schedule that keeps partial results does so in its scratch.
bool slots_hold_elements(const Program& program) {
  return std::ranges::none_of(
      program.slices, [](const Slice& slice) { return has_owner(slice.buffer) && slice.format != Format::element; });
}

}  // namespace

CallCache::CallCache(const SharedFacts& facts, const Settings& settings)
    : facts_(facts), settings_(settings), entries_(std::size_t{1} << kFirstBits) {}

void CallCache::learn(const SharedFacts& facts) {
  facts_ = facts;
  bits_ = kFirstBits;
  entries_ = std::vector<CachedCall>(std::size_t{1} << kFirstBits);
  templates_ = TemplateCache();
}

Result<const CachedCall*> CallCache::add(const CollectiveCall& call) {
  Result<CachedCall> made = make(call);
  if (!made.ok()) return std::move(made).status();
  while (entries_[place(call)].used && bits_ < kMostBits) double_places();
  CachedCall& entry = entries_[place(call)];
  entry = std::move(made).value();
  return &entry;
}

// A place is the first bits of a hash, so what was alone in its place is alone in one of the two that it becomes.
void CallCache::double_places() {
  ++bits_;
  std::vector<CachedCall> fewer = std::exchange(entries_, std::vector<CachedCall>(std::size_t{1} << bits_));
  for (CachedCall& entry : fewer) {
    if (entry.used) entries_[place(entry.key)] = std::move(entry);
  }
}

PlanRequest CallCache::request(const CollectiveCall& call) const {
  PlanRequest request{.collective = call.collective,
                      .ranks = facts_.ranks,
                      .root = has_root(call.collective) ? call.root : 0,
                      .element_bytes = element_bytes(call.dtype),
                      .slots = facts_.slots,
                      .cores = facts_.cores,
                      .private_lengths = call.unequal != nullptr && lengths_are_private(call.collective),
                      .layout = facts_.layout};
  request.bytes = call.count * request.element_bytes;
  request.partial_bytes = request.element_bytes;
  request.sum_bytes = request.element_bytes;
  if (reduces(call.collective)) {
    request.partial_bytes = partial_bytes(call.dtype, call.op);
    if (!sums_fit_elements(call.dtype, call.op)) request.sum_bytes = request.partial_bytes;
  }
  request.room = {.chunk_bytes = settings_.chunk_bytes, .has_window = facts_.has_window, .slot_bytes = facts_.slot_bytes};
  return request;
}

Result<CachedCall> CallCache::make(const CollectiveCall& call) {
  const PlanRequest wanted = request(call);
  Result<Choice> choice = choose(wanted, settings_);
  if (!choice.ok()) return std::move(choice).status();
  const Template& schedule = templates_.find(*choice.value().algorithm, wanted.problem(), facts_.rank);
  HCOMM_ASSERT(slots_hold_elements(schedule.program));

  CachedCall made{.key = call, .used = true, .algorithm = schedule.algorithm->name, .schedule_hash = schedule.hash};
  made.key.send = nullptr;
  made.key.recv = nullptr;
  static constexpr UnequalBlocks kSome;
  if (call.unequal != nullptr) made.key.unequal = &kSome;
  made.plan.problem = &schedule.problem;
  made.plan.shape = &schedule.shape;
  made.plan.program = &schedule.program;
  made.plan.element_bytes = wanted.element_bytes;
  made.plan.partial_bytes = wanted.partial_bytes;
  if (wanted.private_lengths) {
    size_up_whole(call, made.plan);
  } else if (Status status = size_up(call, made.plan); !status.ok()) {
    return status;
  }
  if (reduces(call.collective)) {
    Result<CombineKernel> kernel = find_combine(call.dtype, call.op, settings_.kernels);
    if (!kernel.ok()) return std::move(kernel).status();
    made.plan.combine = kernel.value();
    made.plan.sums_are_elements = sums_fit_elements(call.dtype, call.op);
    if (needs_finish(call.dtype, call.op, facts_.ranks)) made.plan.finish_over = facts_.ranks;
  }
  made.exposes = !made.plan.inline_slots && shows_input(schedule.program);
  made.input_bytes = wanted.bytes;
  made.input_bytes *= static_cast<std::size_t>(parts_of(call.collective, Side::input, facts_.ranks));
  return made;
}

// Between owners, so there is no slot, and who has scratch has it for the blocks that it gets itself.
void CallCache::size_up_whole(const CollectiveCall& call, CallPlan& plan) const {
  HCOMM_ASSERT(plan.shape->slot_units == 0);
  plan.partition = Partition::of_whole_blocks(*plan.problem, *plan.shape);
  plan.unit_bytes = round_up(std::max<std::size_t>(call.count, 1) * plan.element_bytes, kCacheLineBytes);
  plan.scratch_bytes = static_cast<std::size_t>(plan.shape->scratch_units) * plan.unit_bytes;
}

// Units, chunks, and whether the slots fit into the step lines.
Status CallCache::size_up(const CollectiveCall& call, CallPlan& plan) const {
  const Shape& shape = *plan.shape;
  const std::size_t widest = shape.scratch_units > 0 ? std::max(plan.element_bytes, plan.partial_bytes) : plan.element_bytes;
  const std::size_t granule = std::max<std::size_t>(kCacheLineBytes / plan.element_bytes, 1);
  const std::size_t room = unit_bytes(shape, request(call).room) / widest / granule * granule;
  if (room == 0 && shape.slot_units > 0) {
    return Status::failure(hcommInvalidUsage, "a slot of " + std::to_string(facts_.slot_bytes) + " bytes has no room for " +
                                                  std::to_string(shape.slot_units) + " blocks; raise HCOMM_BUFFSIZE");
  }
  const auto blocks = static_cast<std::size_t>(shape.blocks);
  const std::size_t longest = is_strided(call.collective) ? call.count : call.count / blocks + (call.count % blocks != 0);
  const std::size_t unit = std::max(std::min(room, round_up(std::min(longest, room), granule)), granule);

  plan.partition = Partition(*plan.problem, shape, call.count, unit, granule);
  plan.unit_bytes = round_up(unit * widest, kCacheLineBytes);
  plan.scratch_bytes = static_cast<std::size_t>(shape.scratch_units) * plan.unit_bytes;
  plan.inline_slots = facts_.has_window && shape.slot_units == 1 && plan.partition.chunks() == 1 &&
                      longest * widest <= StepLine::payload_bytes(facts_.slots);
  return {};
}

}  // namespace hcomm
