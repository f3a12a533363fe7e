// What all ranks of a trial share while it is executed.
#pragma once

#include <limits>

#include "verify/flight.h"
#include "verify/memory.h"

namespace hcomm {

struct Signal {
  std::uint64_t step = 0;
  Time time = 0;
  VectorClock clock;  // what its rank knew
};

inline constexpr Time kNotYet = std::numeric_limits<Time>::max();

struct World {
  explicit World(const Trial& which)
      : trial(which),
        memory(which),
        clocks(ranks(), VectorClock(ranks())),
        signals(ranks()),
        start_times(which.calls.size(), std::vector<Time>(ranks(), kNotYet)),
        agreed(which.calls.size()) {}

  std::size_t ranks() const { return static_cast<std::size_t>(trial.ranks()); }
  const Program& program(const Access& who) const { return trial.schedule(who.call).programs[who.rank]; }
  const Op& op(const Access& who) const { return program(who).ops[who.op]; }

  Value& agreed_on(std::uint32_t call, std::uint32_t chunk, std::uint32_t block) {
    const auto blocks = static_cast<std::size_t>(trial.schedule(call).shape.blocks);
    agreed[call].resize(blocks * static_cast<std::size_t>(trial.calls[call].chunks));
    return agreed[call][chunk * blocks + block];
  }

  const Trial& trial;
  Memory memory;
  Flights flights;
  Expressions expressions;
  std::vector<VectorClock> clocks;             // what each rank knows now
  std::vector<std::vector<Signal>> signals;    // of each rank, with growing steps
  std::vector<std::vector<Time>> start_times;  // [call][rank]: when its caller came
  std::vector<std::vector<Value>> agreed;      // [call][chunk and block]: the expression of a reduction's result
};

}  // namespace hcomm
