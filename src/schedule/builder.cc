#include "schedule/builder.h"

#include <algorithm>
#include <utility>

#include "schedule/blocks.h"

namespace hcomm {
namespace {

bool ranges_meet(std::uint32_t a, std::uint32_t a_count, std::uint32_t b, std::uint32_t b_count) {
  return a < b + b_count && b < a + a_count;
}

// Whether two slices may share memory under some late binding: in place (input is output), exposed (it is the owner's input,
// or its slot).
bool may_overlap(const Slice& a, const Slice& b) {
  const auto both = [&](Buffer one, Buffer other) {
    return (a.buffer == one && b.buffer == other) || (a.buffer == other && b.buffer == one);
  };
  const bool same_owner = a.owner == b.owner;
  const bool blocks_meet = ranges_meet(a.first, a.count, b.first, b.count);
  const bool places_meet = ranges_meet(a.place, a.count, b.place, b.count);
  if (a.buffer == b.buffer) {
    const bool by_place = has_place(a.buffer) && places_meet;
    const bool by_block = (!has_place(a.buffer) || a.buffer == Buffer::exposed) && blocks_meet;
    return same_owner && (by_place || by_block);
  }
  if (both(Buffer::input, Buffer::output)) return same_owner && blocks_meet;
  if (both(Buffer::slot, Buffer::exposed)) return same_owner && places_meet;
  if (both(Buffer::input, Buffer::exposed) || both(Buffer::output, Buffer::exposed)) return same_owner && blocks_meet;
  return false;
}

}  // namespace

ProgramBuilder::ProgramBuilder(const Problem& problem, const Shape& shape, int rank) : problem_(problem), shape_(shape) {
  HCOMM_ASSERT(0 <= rank && rank < problem.ranks);
  program_.rank = rank;
  section_ = &program_.prologue;
}

void ProgramBuilder::body() {
  HCOMM_ASSERT(!body_named_ && section_ == &program_.prologue);
  close_section();
  body_named_ = true;
  section_ = &program_.body;
  section_->first = static_cast<std::uint32_t>(program_.ops.size());
}

void ProgramBuilder::epilogue() {
  if (!body_named_) {  // what was written so far is the body
    program_.body = std::exchange(program_.prologue, {});
    body_named_ = true;
    section_ = &program_.body;
  }
  HCOMM_ASSERT(section_ == &program_.body);
  close_section();
  section_ = &program_.epilogue;
  section_->first = static_cast<std::uint32_t>(program_.ops.size());
}

void ProgramBuilder::close_section() {
  for (std::vector<Pending>& list : pending_) list.clear();
}

std::size_t ProgramBuilder::list_of(const Slice& slice) {
  const bool of_caller = slice.buffer == Buffer::input || slice.buffer == Buffer::output;
  return of_caller && slice.count == 1 ? slice.first % kLists : kLists;
}

// In place, a block of the input and one of the output share memory: the same block, but in an alltoall.
Slice ProgramBuilder::lying(Slice slice) const {
  const bool of_caller = slice.buffer != Buffer::scratch && slice.buffer != Buffer::slot;
  if (problem_.collective != Collective::alltoall || !of_caller) return slice;
  const Side side = slice.buffer == Buffer::output ? Side::output : Side::input;
  slice.first = static_cast<std::uint32_t>(
      place_of(problem_.collective, side, static_cast<std::size_t>(problem_.ranks), slice.first));
  return slice;
}

void ProgramBuilder::add_pending(const Slice& slice, bool writes) {
  const Slice lies = lying(slice);
  pending_[list_of(lies)].push_back({static_cast<std::uint32_t>(program_.ops.size() - 1), lies, writes});
}

// Where what conflicts with an op may be.
ProgramBuilder::Lists ProgramBuilder::lists_to_search(const Op& op) const {
  Lists lists;
  lists.set(kLists);
  for (const auto& slices : {program_.sources(op), program_.targets(op)}) {
    for (const Slice& slice : slices) {
      const std::size_t list = list_of(lying(slice));
      if (list < kLists) {
        lists.set(list);
      } else if (slice.buffer != Buffer::scratch) {  // which nobody else shares
        lists.set();
      }
    }
  }
  return lists;
}

Slice ProgramBuilder::input(int first, int count) const {
  return {.buffer = Buffer::input,
          .owner = rank(),
          .first = static_cast<std::uint32_t>(first),
          .count = static_cast<std::uint32_t>(count)};
}

Slice ProgramBuilder::output(int first, int count) const {
  Slice slice = input(first, count);
  slice.buffer = Buffer::output;
  return slice;
}

Slice ProgramBuilder::slot(int owner, int place, int first, int count) const {
  return {.buffer = Buffer::slot,
          .owner = owner,
          .first = static_cast<std::uint32_t>(first),
          .count = static_cast<std::uint32_t>(count),
          .place = static_cast<std::uint32_t>(place)};
}

Slice ProgramBuilder::scratch(int place, int first, int count) const {
  Slice slice = slot(rank(), place, first, count);
  slice.buffer = Buffer::scratch;
  return slice;
}

Slice ProgramBuilder::exposed(int owner, int place, int first, int count) const {
  Slice slice = slot(owner, place, first, count);
  slice.buffer = Buffer::exposed;
  return slice;
}

Slice ProgramBuilder::nothing() const { return input(0, 0); }

void ProgramBuilder::send(const Slice& source, int peer) {
  HCOMM_ASSERT(0 <= peer && peer < ranks() && peer != rank());
  append(OpKind::send, {&source, 1}, {}).peer = peer;
  add_pending(source, false);
}

void ProgramBuilder::recv(const Slice& target, int peer) {
  HCOMM_ASSERT(0 <= peer && peer < ranks() && peer != rank());
  append(OpKind::recv, {}, {&target, 1}).peer = peer;
  add_pending(target, true);
}

void ProgramBuilder::combine(std::span<const Slice> sources, std::span<const Slice> targets) {
  HCOMM_ASSERT(!sources.empty() && !targets.empty());
  append(OpKind::combine, sources, targets);
}

void ProgramBuilder::signal(Phase phase) { append(OpKind::signal, {}, {}).phase = phase; }

void ProgramBuilder::await(int peer, Phase phase, int back) {
  HCOMM_ASSERT(0 <= peer && peer < ranks() && peer != rank());
  HCOMM_ASSERT(0 <= back && back <= problem_.slots);
  Op& op = append(OpKind::await, {}, {});
  op.phase = phase;
  op.back = static_cast<std::uint8_t>(back);
  op.peer = peer;
}

void ProgramBuilder::await_others(Phase phase, int back) {
  for (int distance = 1; distance < ranks(); ++distance) await((rank() + distance) % ranks(), phase, back);
}

Op& ProgramBuilder::append(OpKind kind, std::span<const Slice> sources, std::span<const Slice> targets) {
  Op op{.kind = kind};
  op.first_source = static_cast<std::uint32_t>(program_.slices.size());
  op.source_count = static_cast<std::uint32_t>(sources.size());
  program_.slices.insert(program_.slices.end(), sources.begin(), sources.end());
  op.first_target = static_cast<std::uint32_t>(program_.slices.size());
  op.target_count = static_cast<std::uint32_t>(targets.size());
  program_.slices.insert(program_.slices.end(), targets.begin(), targets.end());
  derive_waits(op);
  program_.ops.push_back(op);
  ++section_->count;
  return program_.ops.back();
}

void ProgramBuilder::derive_waits(Op& op) {
  op.first_wait = static_cast<std::uint32_t>(program_.waits.size());
  const auto conflicts = [&](const Pending& pending) {
    const auto meets = [&](const Slice& slice) { return may_overlap(lying(slice), pending.slice); };
    if (op.kind == OpKind::signal) return has_owner(pending.slice.buffer);
    if (op.kind == OpKind::send && program_.sources(op).front().count == 0) return pending.writes;
    if (std::ranges::any_of(program_.targets(op), meets)) return true;
    return pending.writes && std::ranges::any_of(program_.sources(op), meets);
  };
  const Lists lists = lists_to_search(op);
  for (std::size_t list = 0; list < pending_.size(); ++list) {
    if (!lists.test(list)) continue;
    std::erase_if(pending_[list], [&](const Pending& pending) {
      if (!conflicts(pending)) return false;
      program_.waits.push_back(pending.op);
      return true;  // it has ended: whoever comes later need not wait again
    });
  }
  std::sort(program_.waits.begin() + op.first_wait, program_.waits.end());
  op.wait_count = static_cast<std::uint32_t>(program_.waits.size()) - op.first_wait;
}

Program ProgramBuilder::finish() && {
  if (!body_named_) program_.body = std::exchange(program_.prologue, {});
  return std::move(program_);
}

}  // namespace hcomm
