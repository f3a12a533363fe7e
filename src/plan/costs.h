// The constants of the cost model. Measured once on a small server and the same everywhere: what they choose decides which
// expression an element is computed by, and that must not change from run to run.
#pragma once

namespace hcomm {

struct Costs {
  double op_us = 0.03;        // the engine's part of an operation
  double await_us = 0.04;     // to look at a flag on another core
  double round_us = 0.3;      // to wait for a peer that runs
  double switch_us = 5.5;     // to wait for a peer that needs this core: one hand-over between processes
  double message_us = 0.6;    // either end of a message on a channel, without its bytes
  double load_ns = 1.0;       // of a line of the rank's own
  double store_ns = 1.5;      // of a line of the rank's own
  double peer_load_ns = 2.0;  // of a line that another core has written
  double show_ns = 1.8;       // to store a line that others read next
  double staged_share = 0.5;  // of the calls in which an exposed input must be copied first: no rank knows of the others
};

}  // namespace hcomm
