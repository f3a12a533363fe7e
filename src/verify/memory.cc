#include "verify/memory.h"

#include "schedule/binding.h"

namespace hcomm {
namespace {

bool bit_of(std::uint64_t mask, std::uint32_t rank) { return (mask >> (rank % 64) & 1) != 0; }

}  // namespace

Memory::Memory(const Trial& trial)
    : trial_(trial),
      buffers_(trial.calls.size()),
      scratch_(static_cast<std::size_t>(trial.ranks())),
      rooms_(static_cast<std::size_t>(trial.ranks()) * static_cast<std::size_t>(trial.slots())) {
  int units = 0;
  for (const Call& call : trial.calls) units = std::max(units, call.schedule->shape.slot_units);
  for (SlotRoom& room : rooms_) room.units.resize(static_cast<std::size_t>(units));
  for (auto& of_call : buffers_) of_call.resize(static_cast<std::size_t>(trial.ranks()));
}

void Memory::begin_call(std::uint32_t rank, std::uint32_t call) {
  const Shape& shape = trial_.schedule(call).shape;
  const auto cells = static_cast<std::size_t>(trial_.calls[call].chunks) * static_cast<std::size_t>(shape.blocks);
  Buffers& buffers = buffers_[call][rank];
  buffers.begun = true;
  buffers.input.resize(cells);
  buffers.output.resize(cells);
  scratch_[rank].assign(static_cast<std::size_t>(shape.scratch_units), Cell{});
}

void Memory::end_call(std::uint32_t rank) { scratch_[rank].clear(); }

bool Memory::in_place(std::uint32_t rank, std::uint32_t call) const {
  return bit_of(trial_.calls[call].placement.in_place, rank);
}

bool Memory::windowed(std::uint32_t rank, std::uint32_t call) const {
  return bit_of(trial_.calls[call].placement.windowed, rank);
}

std::size_t Memory::cell_index(std::uint32_t call, std::uint32_t chunk, std::uint32_t block) const {
  return static_cast<std::size_t>(chunk) * static_cast<std::size_t>(trial_.schedule(call).shape.blocks) + block;
}

Spot Memory::input(std::uint32_t owner, std::uint32_t call, std::uint32_t chunk, std::uint32_t block) {
  return {.cell = &buffers_[call][owner].input[cell_index(call, chunk, block)],
          .region = Region::input,
          .owner = owner,
          .index = block,
          .call = call,
          .chunk = chunk};
}

Spot Memory::output(std::uint32_t owner, std::uint32_t call, std::uint32_t chunk, std::uint32_t block) {
  const bool shares = block == owner || !is_strided(trial_.schedule(call).problem.collective);
  Spot spot = input(owner, call, chunk, block);
  if (!(in_place(owner, call) && shares)) spot.cell = &buffers_[call][owner].output[cell_index(call, chunk, block)];
  spot.region = Region::output;
  return spot;
}

std::optional<Spot> Memory::find(const Slice& slice, std::uint32_t i, std::uint32_t rank, std::uint32_t call,
                                 std::uint32_t chunk) {
  const auto owner = static_cast<std::uint32_t>(slice.owner);
  const std::uint32_t block = slice.first + i;
  const std::uint32_t unit = slice.place + i;
  switch (slice.buffer) {
    case Buffer::input:  return input(rank, call, chunk, block);
    case Buffer::output: return output(rank, call, chunk, block);
    case Buffer::scratch:
      return Spot{.cell = &scratch_[rank][unit], .region = Region::scratch, .owner = rank, .index = unit};
    case Buffer::exposed:
      if (windowed(owner, call)) {
        if (!has_begun(owner, call)) return std::nullopt;
        return input(owner, call, chunk, block);
      }
      [[fallthrough]];
    case Buffer::slot: {
      const std::uint32_t slot = trial_.slot_index(call, chunk);
      return Spot{.cell = &room(owner, slot).units[unit],
                  .region = Region::slot,
                  .owner = owner,
                  .index = unit,
                  .slot = slot};
    }
  }
  unreachable();
}

}  // namespace hcomm
