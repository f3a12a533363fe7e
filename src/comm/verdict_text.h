// Verdicts and calls in words and codes.
#pragma once

#include <string>

#include "hcomm/types.h"
#include "transport/verdict.h"

namespace hcomm {

hcommResult_t result_of(Reason reason);

// "allreduce(count 100, float32, sum)"
std::string call_text(const CallWords& call);

// "operation 418, allreduce(count 100, float32, sum)"
std::string operation_text(const CallWords& call);

// What happened, who saw it, and what to do. `here` is what this rank was doing.
std::string verdict_text(const Verdict& verdict, int self, const std::string& here);

}  // namespace hcomm
