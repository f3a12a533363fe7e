#include "verify/race.h"

namespace hcomm {
namespace {

bool is_nobody(const Access& access) { return access.time == 0; }

}  // namespace

std::optional<Conflict> note_read(Cell& cell, const Access& reader, const VectorClock& clock, const Flights& flights) {
  if (!is_nobody(cell.write) && !flights.ended_before(cell.write, clock)) return Conflict{cell.write, true};
  const auto gives_way = [&](const Access& old) {  // an earlier combine of the same rank: this read ends after it
    return old.rank == reader.rank && old.flight == kNoFlight && reader.flight == kNoFlight;
  };
  if (is_nobody(cell.read) || gives_way(cell.read)) {
    cell.read = reader;
  } else if (const auto place = std::ranges::find_if(cell.reads, gives_way); place != cell.reads.end()) {
    *place = reader;
  } else {
    cell.reads.push_back(reader);
  }
  return std::nullopt;
}

std::optional<Conflict> note_write(Cell& cell, const Access& writer, const VectorClock& clock, const Flights& flights) {
  if (!is_nobody(cell.write) && !flights.ended_before(cell.write, clock)) return Conflict{cell.write, true};
  if (!is_nobody(cell.read) && !flights.ended_before(cell.read, clock)) return Conflict{cell.read, false};
  for (const Access& reader : cell.reads) {
    if (!flights.ended_before(reader, clock)) return Conflict{reader, false};
  }
  cell.read = {};
  cell.reads.clear();
  cell.write = writer;
  return std::nullopt;
}

void note_slot_read(SlotRoom& room, const Access& reader, std::size_t ranks) {
  if (reader.flight != kNoFlight) {
    room.flights.push_back(reader);
    return;
  }
  room.readers.resize(ranks);
  room.readers[reader.rank] = reader;
}

std::optional<Conflict> note_slot_write(SlotRoom& room, const Access& writer, const VectorClock& clock,
                                        const Flights& flights) {
  if (writer.call == room.last_writing_call) return std::nullopt;
  for (const auto* readers : {&room.readers, &room.flights}) {
    for (const Access& reader : *readers) {
      if (is_nobody(reader) || reader.call == writer.call) continue;
      if (!flights.ended_before(reader, clock)) return Conflict{reader, false};
    }
  }
  std::erase_if(room.flights, [&](const Access& reader) { return reader.call != writer.call; });
  room.last_writing_call = writer.call;
  return std::nullopt;
}

}  // namespace hcomm
