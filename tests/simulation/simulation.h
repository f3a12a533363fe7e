// Runs a scenario: all ranks in one thread, each with its own hub, mesh and communicator over the simulated network, turn by turn
// in random order; and says what was wrong.
//
// What must hold:
//   exactness  each call that succeeds has the right result; without a mishap, or after a mere pause, all succeed
//   an end     in virtual time every rank that lives ends its program or has a failure
//   one voice  when a rank has crashed, all who fail name it
//   no leak    when all have left, no socket is open
#pragma once

#include <string>

#include "scenario.h"

namespace hcomm::simulation {

struct Report {
  std::string finding;   // empty: all was well
  int failed_ranks = 0;
  std::size_t calls = 0;  // that succeeded, on all ranks
  TimeNs virtual_ns = 0;
};

Report run(const Scenario& scenario);

}  // namespace hcomm::simulation
