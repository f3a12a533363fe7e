// The constants of the cost model. Measured once on a small server and the same everywhere: what they choose decides which
// expression an element is computed by, and that must not change from run to run.
#pragma once

namespace hcomm {

struct Costs {
  double op_us = 0.03;        // the engine's part of an operation
  double await_us = 0.04;     // to look at a flag on another core
  double round_us = 0.3;      // to wait for a peer that runs
  double switch_us = 5.5;     // to wait for a peer that needs this core: one hand-over between processes
  double message_us = 0.6;    // either end of a message on a channel in shared memory, without its bytes
  double load_ns = 1.0;       // of a line of the rank's own
  double store_ns = 1.5;      // of a line of the rank's own
  double peer_load_ns = 2.0;  // of a line that another core has written
  double show_ns = 1.8;       // to store a line that others read next
  // A TCP link. Not measured on one machine, because it is a link between two: usual figures of a network of 10 Gbit/s.
  double tcp_message_us = 5;      // either end of a message, without its bytes: a system call each, and the look at epoll
  double tcp_round_us = 30;       // from a rank to one on another host
  double tcp_line_ns = 16;        // of each line, either end: the kernel copies it, 4 GB/s for a core
  double tcp_bytes_per_us = 1250; // what a host's network carries in each direction
  double staged_share = 0.5;  // of the calls in which an exposed input must be copied first: no rank knows of the others
};

}  // namespace hcomm
