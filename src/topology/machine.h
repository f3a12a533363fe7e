// The machine as hwloc sees it. Takes milliseconds; for people (`hcomm topo`) and for layouts, not for each call.
#pragma once

#include <string>

#include "base/status.h"

namespace hcomm {

struct Machine {
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;
  int processors = 0;  // hardware threads that this process may use

  friend bool operator==(const Machine&, const Machine&) = default;
};

// This machine, or a synthetic one such as "pack:2 numa:2 core:4 pu:2". SystemError if hwloc refuses.
Result<Machine> read_machine(const std::string& synthetic = {});

}  // namespace hcomm
