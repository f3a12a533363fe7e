// The words of a refusal: ops, places and times as a person would say them.
#pragma once

#include <string>

#include "verify/memory.h"

namespace hcomm {

// "rank 0 op 3 `combine slot(0)@0[0] <- input[0]` (call 1, chunk 0, epoch 1)", or "rank 0's caller (call 1)".
std::string op_story(const Trial& trial, const Access& who);

// "slot(0) unit 0 (slot 1)", "input[2] of rank 1 (call 0, chunk 1)".
std::string spot_story(const Spot& spot);

// The earlier access is not known to have ended when the later one starts.
std::string race_story(const Trial& trial, const Spot& spot, const Access& earlier, bool earlier_writes,
                       const Access& later, bool later_writes);

}  // namespace hcomm
