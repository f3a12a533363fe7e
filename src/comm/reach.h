// From a meeting to the way between its ranks: who shares memory with whom, and how the others are reached.
#pragma once

#include <string_view>

#include "base/knobs.h"
#include "base/status.h"
#include "comm/hubs.h"
#include "comm/meet.h"
#include "comm/open.h"

namespace hcomm {

// Hosts are numbered in the order of their first ranks, so that all ranks number them alike.
Ways ways_of(const Meeting& meeting, bool shares_memory);

// What a rank listens with before it knows where the others are; nothing if none of them can be elsewhere.
Result<OpenHub> hub_for(const Appointment& appointment, std::string_view transport, const Settings& settings);

// Tells the hub where the others listen, or says why there is no way to them.
Status reach_others(const OpenHub& hub, const Meeting& meeting, const Ways& ways, int rank);

}  // namespace hcomm
