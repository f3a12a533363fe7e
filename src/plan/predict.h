// The cost model: what a schedule does, and how long that takes.
#pragma once

#include "plan/choose.h"

namespace hcomm {

// Why the algorithm cannot serve the request; empty if it can.
std::string refusal(const Algorithm& algorithm, const PlanRequest& request);

// Of an algorithm that is not refused.
Candidate predict(const Algorithm& algorithm, const PlanRequest& request);

}  // namespace hcomm
