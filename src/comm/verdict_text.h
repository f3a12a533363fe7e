// Verdicts in words and codes.
#pragma once

#include <string>

#include "hcomm/types.h"
#include "transport/board.h"

namespace hcomm {

hcommResult_t result_of(Reason reason);

// "allreduce #418"
std::string operation_text(Collective collective, std::uint64_t sequence);

// What happened, who saw it, and what to do. `here` is what this rank was doing.
std::string verdict_text(const Verdict& verdict, int self, const std::string& here);

}  // namespace hcomm
