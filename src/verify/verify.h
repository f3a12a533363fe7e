// The judge. Proves a schedule right, or refuses it with a story that a person can follow. Knows no algorithm.
//
// What is proved, for every rank, for 1 to slots + 1 chunks, for both bindings of the exposed buffers and for both
// placements (in place, out of place):
//   contributions  every output block of a reduction holds each contribution exactly once, prepared once and finished once,
//                  in an expression that is the same on all ranks and rounded at the same places; a broadcast and an
//                  allgather return the bare block; nobody leaves a barrier before all have come
//   matching       the k-th send of a channel meets the k-th receive, with the same blocks and format
//   bounds         every slice lies in its buffer; nobody writes an input or another rank's slot; unwritten memory is not read
//   deadlock       every program ends, even if a send ends only when its receive has started
//   races          two accesses of the same memory, one of them a write, are ordered by program order, send to
//                  receive and signal to await. The caller counts as a thread: it writes input and output before the
//                  call and touches both after it. Slots keep their contents and their readers from call to call
//   steps          a rank's step only grows
// docs/schedule_format.md says more, and what is assumed of the engine.
// The time is linear in operations times ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "schedule/schedule.h"

namespace hcomm {

enum class Fault : std::uint8_t { none, malformed, bounds, matching, deadlock, race, contribution, step };

constexpr std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::none:         return "none";
    case Fault::malformed:    return "malformed";
    case Fault::bounds:       return "bounds";
    case Fault::matching:     return "matching";
    case Fault::deadlock:     return "deadlock";
    case Fault::race:         return "race";
    case Fault::contribution: return "contribution";
    case Fault::step:         return "step";
  }
  unreachable();
}

struct Judgement {
  Fault fault = Fault::none;
  std::string story;  // empty if proved; else who did what, against what, and why that is wrong

  bool proved() const { return fault == Fault::none; }
};

// How a call meets the schedule; local facts that bind late. Ranks may differ: one bit per rank, modulo 64.
struct Placement {
  std::uint64_t in_place = 0;  // output is input (split), or the rank's own slot of the larger buffer (strided)
  std::uint64_t windowed = 0;  // exposed(r) is r's input, else slot(r)
};

// One call.
struct Call {
  const Schedule* schedule = nullptr;
  int chunks = 1;
  Placement placement;
};

// A sequence of calls on one communicator, in order; slots, steps and their readers live on between them. All schedules have
// the same ranks and slots.
Judgement verify_calls(std::span<const Call> calls);

// The schedule alone: 1 .. slots + 1 chunks, repeated slots + 1 times, all-alike and mixed placements.
Judgement verify(const Schedule& schedule);

// Two schedules that share slots, in both orders, repeated.
Judgement verify_pair(const Schedule& first, const Schedule& second);

}  // namespace hcomm
