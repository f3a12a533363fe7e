// Where slices lie, and how combines move them.

#include <algorithm>

#include "base/assert.h"
#include "engine/engine.h"

namespace hcomm {

bool Engine::is_partial(Format format) const {
  return format == Format::partial || (format == Format::sum && !plan_->sums_are_elements);
}

std::size_t Engine::bytes_of(Format format) const { return is_partial(format) ? plan_->partial_bytes : plan_->element_bytes; }

// Length of a block of this chunk and, for the caller's buffers, where it lies in them.
Extent Engine::extent(Buffer buffer, std::size_t block) const {
  return plan_->partition.block(buffer == Buffer::output ? Side::output : Side::input, chunk_, block, call_.unequal);
}

// What a peer reads next is stored as the probe found best, but for the few bytes that share the line of a step.
Store Engine::store_for(const Slice& target) const {
  return has_owner(target.buffer) && !plan_->inline_slots ? shared_store_ : Store::regular;
}

std::byte* Engine::slot_address(const Slice& slice, std::uint32_t which) const {
  if (plan_->inline_slots) return window_->inline_slot(slice.owner, epoch_);
  return window_->slot(slice.owner, epoch_) + std::size_t{slice.place + which} * plan_->unit_bytes;
}

// What `owner` shows: where its record of this epoch says. Null, and the run failed, when that cannot be mapped.
const std::byte* Engine::exposed_address(const Slice& slice, std::uint32_t which) {
  if (slice.owner == options_.rank) {
    if (!call_.windowed) return slot_address(slice, which);
    return call_.input + extent(slice.buffer, slice.first + which).offset * plan_->element_bytes;
  }
  if (plan_->inline_slots) return slot_address(slice, which);
  const ExposedRecord record = window_->record(slice.owner, epoch_);  // one read: the owner is a peer like any other
  if (record.window == 0) return slot_address(slice, which);
  if (options_.peer_windows == nullptr) {
    fail(Status::failure(hcommInternalError, "a peer exposes a window, but windows were not agreed"),
         slice.owner);
    return nullptr;
  }
  const Extent block = extent(slice.buffer, slice.first + which);
  const std::size_t offset = record.offset + block.offset * plan_->element_bytes;
  const Result<const std::byte*> mapped = options_.peer_windows->map(
      slice.owner, options_.transport->board().pid(slice.owner),
      {.id = record.window, .generation = record.generation, .offset = offset}, block.length * plan_->element_bytes);
  if (!mapped.ok()) {
    fail(mapped.status(), slice.owner);
    return nullptr;
  }
  return mapped.value();
}

const std::byte* Engine::read_address(const Slice& slice, std::uint32_t which) {
  switch (slice.buffer) {
    case Buffer::input:
      return call_.input + extent(slice.buffer, slice.first + which).offset * plan_->element_bytes;
    case Buffer::exposed:
      return exposed_address(slice, which);
    case Buffer::output:
    case Buffer::scratch:
    case Buffer::slot:
      return write_address(slice, which);
  }
  unreachable();
}

std::byte* Engine::write_address(const Slice& slice, std::uint32_t which) {
  switch (slice.buffer) {
    case Buffer::output:
      return call_.output + extent(slice.buffer, slice.first + which).offset * plan_->element_bytes;
    case Buffer::scratch:
      return scratch_ + std::size_t{slice.place + which} * plan_->unit_bytes;
    case Buffer::slot:
    case Buffer::exposed:
      return slot_address(slice, which);
    case Buffer::input:
      break;  // read only
  }
  unreachable();
}

// Publishes where this rank's exposed buffer lies. True if the caller must still copy into it.
bool Engine::expose(const Slice& target) {
  HCOMM_ASSERT(target.owner == options_.rank);
  if (plan_->inline_slots) return true;
  ExposedRecord& record = window_->record(options_.rank, epoch_);
  record = call_.windowed ? ExposedRecord{.window = call_.window.id,
                                          .generation = call_.window.generation,
                                          .offset = call_.window.offset}
                          : ExposedRecord{};
  return !call_.windowed;
}

bool Engine::run_combine(const Op& op) {
  const Slice& first_target = plan_->program->targets(op).front();
  if (first_target.buffer == Buffer::exposed && !expose(first_target)) return true;
  for (std::uint32_t which = 0; which < first_target.count; ++which) {
    if (!combine_block(op, which)) return false;
  }
  return true;
}

// Whether bytes move as they are: one source, no other format and nothing to finish.
bool Engine::only_copies(const Op& op) const {
  if (plan_->combine == nullptr) return true;
  if (op.source_count > 1) return false;
  const bool partial = is_partial(plan_->program->sources(op).front().format);
  return std::ranges::all_of(plan_->program->targets(op), [&](const Slice& target) {
    return is_partial(target.format) == partial && (plan_->finish_over == 0 || target.scaling != Scaling::finish);
  });
}

bool Engine::combine_block(const Op& op, std::uint32_t which) {
  const auto sources = plan_->program->sources(op);
  const auto targets = plan_->program->targets(op);
  const std::size_t elements = extent(targets.front().buffer, targets.front().first + which).length;
  if (elements == 0) return true;

  sources_.clear();
  for (const Slice& source : sources) {
    const std::byte* const data = read_address(source, which);
    if (data == nullptr) return false;
    sources_.push_back({data, is_partial(source.format)});
  }
  if (only_copies(op)) {
    const std::size_t bytes = elements * bytes_of(sources.front().format);
    for (const Slice& target : targets) {
      std::byte* const data = write_address(target, which);
      if (data == sources_.front().data) continue;  // in place
      copy_bytes(data, sources_.front().data, bytes, store_for(target));
    }
    return true;
  }
  targets_.clear();
  Store store = shared_store_;
  for (const Slice& target : targets) {
    targets_.push_back({.data = write_address(target, which),
                        .is_partial = is_partial(target.format),
                        .finished_over = target.scaling == Scaling::finish ? plan_->finish_over : 0});
    if (store_for(target) == Store::regular) store = Store::regular;
  }
  plan_->combine(sources_, targets_, elements, store);
  return true;
}

}  // namespace hcomm
