// Every small mistake that can be made in a schedule: one op dropped, one wait forgotten, one slice shifted ...
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace hcomm {

struct Mutant {
  std::string what;  // "rank 0 op 3: drop"
  Schedule schedule;
};

// All single mutations. A mutant may be malformed; it may also mean the same as the original.
std::vector<Mutant> all_mutants(const Schedule& schedule);

}  // namespace hcomm
