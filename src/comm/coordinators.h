// The meetings that this process serves: one for each unique id it made, until its ranks have met.
#pragma once

#include "base/knobs.h"
#include "base/status.h"
#include "bootstrap/job_id.h"

namespace hcomm {

// Any thread. Meetings that are over are cleared away with the next call; in the child of a fork all are given up.
Status serve(const JobId& job, const Settings& settings);

}  // namespace hcomm
