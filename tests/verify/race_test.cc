#include "verify/race.h"

#include <catch2/catch.hpp>

#include "verify/flight.h"

namespace hcomm {
namespace {

Access access(std::uint32_t rank, Time time) { return {.rank = rank, .op = 0, .time = time}; }

}  // namespace

TEST_CASE("a read is after a write that its rank knows of, and in conflict with one it does not know of") {
  const Flights flights;
  Cell cell;
  CHECK_FALSE(note_write(cell, access(0, 3), {3, 0}, flights));
  CHECK_FALSE(note_read(cell, access(1, 1), {3, 1}, flights));
  const auto conflict = note_read(cell, access(1, 1), {2, 1}, flights);
  REQUIRE(conflict);
  CHECK(conflict->earlier_writes);
  CHECK(conflict->earlier.time == 3);
}

TEST_CASE("a write must know of every read since the last write") {
  const Flights flights;
  Cell cell;
  CHECK_FALSE(note_write(cell, access(0, 1), {1, 0, 0}, flights));
  CHECK_FALSE(note_read(cell, access(1, 5), {1, 5, 0}, flights));
  CHECK_FALSE(note_read(cell, access(2, 6), {1, 0, 6}, flights));
  CHECK_FALSE(note_read(cell, access(1, 7), {1, 7, 0}, flights));
  for (const VectorClock& clock : {VectorClock{2, 6, 6}, VectorClock{2, 7, 5}}) {
    const auto conflict = note_write(cell, access(0, 2), clock, flights);
    REQUIRE(conflict);
    CHECK_FALSE(conflict->earlier_writes);
  }
  CHECK_FALSE(note_write(cell, access(0, 2), {2, 7, 6}, flights));
  CHECK_FALSE(note_write(cell, access(0, 3), {3, 0, 0}, flights));  // the reads are forgotten
}

TEST_CASE("a flight is in conflict until somebody has waited for it") {
  Flights flights;
  const std::uint32_t number = flights.start({.who = access(0, 1), .is_send = true, .peer = 1});
  Cell cell;
  CHECK_FALSE(note_read(cell, flights[number].who, {1, 0}, flights));
  CHECK(note_write(cell, access(0, 2), {2, 0}, flights));
  flights[number].end_time = 2;
  CHECK_FALSE(note_write(cell, access(0, 2), {2, 0}, flights));
}

TEST_CASE("the k-th send of a channel meets the k-th receive") {
  Flights flights;
  const auto start = [&](bool is_send, Lane lane) {
    return flights.start({.who = access(is_send ? 0 : 1, 1), .is_send = is_send, .peer = is_send ? 1u : 0u, .lane = lane});
  };
  const std::uint32_t first = start(true, Lane::collective);
  const std::uint32_t second = start(true, Lane::collective);
  CHECK_FALSE(flights.meet(first));
  const std::uint32_t other_lane = start(false, Lane::control);
  CHECK_FALSE(flights.meet(other_lane));
  const std::uint32_t recv = start(false, Lane::collective);
  const auto pair = flights.meet(recv);
  REQUIRE(pair);
  CHECK(pair->send == first);
  CHECK(pair->recv == recv);
  CHECK(flights[first].met);
  CHECK_FALSE(flights[second].met);
}

TEST_CASE("a slot is written in a call only after all who read it in earlier calls") {
  const Flights flights;
  SlotRoom room;
  Access reader = access(1, 4);
  note_slot_read(room, reader, 2);
  Access writer = access(0, 2);
  CHECK_FALSE(note_slot_write(room, writer, {2, 3}, flights));  // of the same call: the units tell
  writer.call = 1;
  CHECK(note_slot_write(room, writer, {2, 3}, flights));
  CHECK_FALSE(note_slot_write(room, writer, {2, 4}, flights));
}

}  // namespace hcomm
