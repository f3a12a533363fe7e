// The cores that the ranks of a communicator may use.
#pragma once

#include <span>

#include "bootstrap/facts.h"

namespace hcomm {

// Of this process.
CoreUse own_core_use();

// How many cores the ranks have together, counted once each, and how it is where one of them runs.
struct CoreCount {
  int all = 1;              // on all machines
  int here = 1;             // on the machine of the rank that asks
  int neighbours_here = 1;  // ranks on that machine, itself among them
};
CoreCount count_cores(std::span<const CoreUse> ranks, int rank);

}  // namespace hcomm
