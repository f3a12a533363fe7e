// How many messages and flags in a row the last rank of a schedule waits for, in one chunk.
#pragma once

#include "schedule/schedule.h"

namespace hcomm {

// The schedule must be free of deadlock.
int depth_of(const Schedule& schedule);

}  // namespace hcomm
