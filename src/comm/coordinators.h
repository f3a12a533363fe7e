// The meetings that this process serves: one for each unique id it made, until its ranks have met, and those of the run whose
// rank 0 it is.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/knobs.h"
#include "base/status.h"
#include "bootstrap/coordinator.h"
#include "bootstrap/job_id.h"

namespace hcomm {

// All of these: any thread. Meetings that are over are cleared away with the next call; in the child of a fork all are given up.

// Serves all meetings of a run of so many ranks, for as long as this process lives; once, however often it is called. Ranks of
// other hosts dial run.at, if there are any. Waits until `deadline` (MonotonicClock) for a process that ran before in the same
// run to leave the name.
Status serve_run(const JobId& run, int ranks, const Settings& settings, TimeNs deadline);

// Serves a new id, and puts into it where: this host and, if HCOMM_TRANSPORT allows tcp, the addresses for ranks of other hosts.
Status serve(JobId& job, const Settings& settings);

// What the ranks of one host of a job share; the caller closes it. With `again` all meetings of the job have the same.
Result<int> segment_of_host(const JobId& job, int ranks, const Settings& settings, bool again);

// Serves what is being handed out already.
void keep_serving(std::unique_ptr<Coordinator> coordinator);

}  // namespace hcomm
