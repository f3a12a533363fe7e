// The meetings that this process serves: one for each unique id it made, until its ranks have met, and those of the run whose
// rank 0 it is.
#pragma once

#include "base/clock.h"
#include "base/knobs.h"
#include "base/status.h"
#include "bootstrap/job_id.h"

namespace hcomm {

// Serves all meetings of a run of so many ranks, for as long as this process lives; once, however often it is called. Waits until
// `deadline` (MonotonicClock) for a process that ran before in the same run to leave the name.
Status serve_run(const JobId& run, int ranks, const Settings& settings, TimeNs deadline);

// Any thread. Meetings that are over are cleared away with the next call; in the child of a fork all are given up.
Status serve(const JobId& job, const Settings& settings);

}  // namespace hcomm
