// The hubs of this process: one for each job and rank, shared by all communicators of that rank.
#pragma once

#include <memory>
#include <vector>

#include "base/knobs.h"
#include "base/status.h"
#include "bootstrap/job_id.h"
#include "transport/hub.h"

namespace hcomm {

struct OpenHub {
  SharedHub hub;
  std::vector<Address> addresses;  // where it listens, for the peers
};

// The one that is there, or a new one that listens where HCOMM_SOCKET_IFNAME, HCOMM_SOCKET_FAMILY and HCOMM_PORT_RANGE say.
// Any thread. In the child of a fork the sockets are closed.
Result<OpenHub> open_hub(const JobId& job, int rank, int ranks, const Settings& settings);

}  // namespace hcomm
