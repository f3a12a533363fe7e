// A second opinion: a small interpreter that runs a schedule with concrete values in every interleaving.
//
// It shares no code with the verifier. Memory is numbers. A combine reads all sources of a block in one step and writes its
// targets in another; a message is taken from its source at any time until it must have been, and may spoil its target
// from the start of the receive; the caller spoils its buffers when it has them back and fills them for the next call. Each
// state is visited once.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/schedule.h"

namespace hcomm {

struct Setting {
  int calls = 1;
  int chunks = 1;           // of each call
  bool in_place = false;    // all ranks
  bool windowed = false;    // all ranks
  bool buffered = false;    // a send may end before its receive starts; else it waits for that
  std::size_t max_states = 2'000'000;
};

struct Finding {
  std::string fault;  // empty: every interleaving ends, with right outputs that are the same in all
  std::uint64_t outputs = 0;  // identifies the results and how they were computed
  std::size_t states = 0;
  bool gave_up = false;  // more states than allowed
};

// The schedule must be well formed and in bounds.
Finding run_every_interleaving(const Schedule& schedule, const Setting& setting);

}  // namespace hcomm
