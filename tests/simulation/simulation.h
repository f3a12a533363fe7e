// Runs a scenario: all ranks in one thread, each on a host of its own. They meet over the simulated network, by the classes of
// bootstrap, and go on with hub, mesh and communicator over it; turn by turn in random order. And says what was wrong.
//
// What must hold:
//   exactness  each call that succeeds has the right result; without a mishap, or after a mere pause, all succeed
//   an end     in virtual time every rank that lives ends its program or has a failure
//   one voice  when a rank has crashed, all who fail name it; who fails in the meeting names the rank that crashed or never came
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
