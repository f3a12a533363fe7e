#include "verify/memory.h"

#include "schedule/blocks.h"

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
  const std::size_t all = static_cast<std::size_t>(trial_.calls[call].chunks) * cells(call);
  Buffers& buffers = buffers_[call][rank];
  buffers.begun = true;
  buffers.input.resize(all);
  buffers.output.resize(all);
  scratch_[rank].assign(static_cast<std::size_t>(shape.scratch_units), Cell{});
}

void Memory::end_call(std::uint32_t rank) { scratch_[rank].clear(); }

bool Memory::in_place(std::uint32_t rank, std::uint32_t call) const {
  return bit_of(trial_.calls[call].placement.in_place, rank);
}

bool Memory::windowed(std::uint32_t rank, std::uint32_t call) const {
  if (in_place(rank, call) && !shows_input_in_place(trial_.schedule(call).problem.collective)) return false;
  return bit_of(trial_.calls[call].placement.windowed, rank);
}

// A buffer of an alltoall has the blocks of one rank alone; any other is given room for all.
std::size_t Memory::cells(std::uint32_t call) const {
  const Schedule& schedule = trial_.schedule(call);
  const bool of_one = schedule.problem.collective == Collective::alltoall;
  return static_cast<std::size_t>(of_one ? schedule.problem.ranks : schedule.shape.blocks);
}

std::size_t Memory::cell_index(Side side, std::uint32_t call, std::uint32_t chunk, std::uint32_t block) const {
  const Problem& problem = trial_.schedule(call).problem;
  const bool by_place = problem.collective == Collective::alltoall;
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  return chunk * cells(call) + (by_place ? place_of(problem.collective, side, ranks, block) : block);
}

Spot Memory::input(std::uint32_t owner, std::uint32_t call, std::uint32_t chunk, std::uint32_t block) {
  return {.cell = &buffers_[call][owner].input[cell_index(Side::input, call, chunk, block)],
          .region = Region::input,
          .owner = owner,
          .index = block,
          .call = call,
          .chunk = chunk};
}

Spot Memory::output(std::uint32_t owner, std::uint32_t call, std::uint32_t chunk, std::uint32_t block) {
  const int beneath =
      input_beneath(trial_.schedule(call).problem, static_cast<int>(owner), static_cast<int>(block));
  Spot spot = input(owner, call, chunk, block);
  if (in_place(owner, call) && beneath >= 0) {
    spot.cell = input(owner, call, chunk, static_cast<std::uint32_t>(beneath)).cell;
  } else {
    spot.cell = &buffers_[call][owner].output[cell_index(Side::output, call, chunk, block)];
  }
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
