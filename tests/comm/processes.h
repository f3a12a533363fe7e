// Ranks as processes, for tests: forked children that join an id served by this process and report through a pipe.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace hcomm::testing {

struct Ended {
  pid_t pid = 0;
  bool reported = false;  // the body returned, and this is what it said
  std::string report;
  int wait_status = 0;
};

// Forks `ranks` children; each joins as its rank and reports what body returns, or "exception: ..." . Waits for all of them,
// for at most a minute; then kills what is left. `meanwhile(pids)` runs in this process while they do.
std::vector<Ended> run_processes(int ranks, const Settings& settings, const std::function<std::string(Communicator&)>& body,
                                 const std::function<void(const std::vector<pid_t>&)>& meanwhile = {});

}  // namespace hcomm::testing
