// The process of `hcomm run` that starts the ranks, serves their meetings, carries their output and ends them.
//
// It is the child of the launcher that the user sees. Each guards the other: the launcher holds one end of a pipe, the
// lifeline, and when that end closes, however the launcher died, the supervisor kills all that descend from it. Both are
// reapers of orphans, so when the supervisor dies, the launcher inherits the family and kills it. Only when both are killed at
// once can a process survive that left its rank; the ranks themselves die with the supervisor (PR_SET_PDEATHSIG).
#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "rank_process.h"

namespace hcomm {

struct JobOptions {
  int ranks = 1;
  bool keep_going = false;      // a failed rank does not end the others
  bool prefix = false;          // each line begins with "[rank] "
  TimeNs grace_ns = 2 * kSecond;  // between asking the ranks to end and killing them
};

// Words on the lifeline: one byte, a signal's number, and whether the ranks have had it from the terminal themselves.
inline constexpr unsigned char kFromTerminal = 0x80;

// Runs the job to its end. Returns the exit code: of the first rank that failed, 128 and the signal that ended the job, or 0.
int supervise(const JobOptions& options, const StartPlan& plan, Descriptor lifeline);

}  // namespace hcomm
