// When nobody can go on: who waits for whom, or what never comes.
#pragma once

#include "verify/machine.h"

namespace hcomm {

// Proved if every rank has returned from its last call.
Judgement judge_stall(const World& world, const std::vector<Runner>& runners);

}  // namespace hcomm
