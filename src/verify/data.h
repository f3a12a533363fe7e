// What ops do to memory, symbolically. Each function judges one step; `who` is the op that does it, at its time.
#pragma once

#include "verify/world.h"

namespace hcomm {

Judgement run_combine(World& world, const Access& who);

// A send carries the values that its source has now; a receive owns its target from now on.
Judgement start_flight(World& world, const Access& who, std::uint32_t& flight);

// Both sides have started: the target has the values.
Judgement deliver(World& world, const Flights::Pair& pair);

}  // namespace hcomm
