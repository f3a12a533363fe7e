// The race check: two accesses of the same memory, one of them a write, must be ordered by what the ranks know.
#pragma once

#include <optional>

#include "verify/flight.h"
#include "verify/memory.h"

namespace hcomm {

struct Conflict {
  Access earlier;
  bool earlier_writes = false;
};

// Notes an access of a rank whose vector clock is `clock`, unless it conflicts with one that is not known to have ended.
std::optional<Conflict> note_read(Cell& cell, const Access& reader, const VectorClock& clock, const Flights& flights);
std::optional<Conflict> note_write(Cell& cell, const Access& writer, const VectorClock& clock, const Flights& flights);

// The same for a slot as a whole, across calls.
void note_slot_read(SlotRoom& room, const Access& reader, std::size_t ranks);
std::optional<Conflict> note_slot_write(SlotRoom& room, const Access& writer, const VectorClock& clock, const Flights& flights);

}  // namespace hcomm
