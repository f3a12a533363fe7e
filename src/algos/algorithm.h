// An algorithm introduces itself: what it solves, how it divides a chunk, and how it writes one rank's program. Pure
// functions of the problem; no clock, no environment, no I/O.
#pragma once

#include <span>
#include <string_view>

#include "schedule/builder.h"
#include "schedule/schedule.h"

namespace hcomm {

struct Algorithm {
  std::string_view name;  // as written in HCOMM_ALGO=ring
  Collective collective;
  bool (*supports)(const Problem& problem);  // for problems of its collective
  Shape (*shape)(const Problem& problem);
  int (*rounds)(const Problem& problem);  // how many messages or flags in a row the last rank waits for, at most; per chunk
  std::string_view expression;            // equal for algorithms whose results have the same bits; "" if nothing is computed
  void (*write)(ProgramBuilder& self);
  // Where the blocks of a chunk follow each other and none of the next chunk may: for how long nobody works at full width, as a
  // share of the busiest rank's work. Null: for no time.
  double (*idle_share)(const Problem& problem) = nullptr;
  // Each block goes from its owner to who wants it, in a message of its own, and nobody else need know how long it is.
  bool only_between_owners = false;
};

// Every algorithm of every collective, in the order they are listed to people.
std::span<const Algorithm* const> algorithms();

// Null when there is none of that name for that collective.
const Algorithm* find_algorithm(std::string_view name, Collective collective);

// One rank's program, or all of them.
Program write_program(const Algorithm& algorithm, const Problem& problem, int rank);
Schedule write_schedule(const Algorithm& algorithm, const Problem& problem);

}  // namespace hcomm
