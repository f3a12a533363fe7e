// Serves a job's meetings: checks who comes, and answers all ranks of a round at once when the last has arrived.
//
//   Threads:  one thread of its own, "hcomm-meet", with all signals blocked. The callbacks run on it.
//   Blocking: start returns at once; the destructor stops the thread and waits for it (milliseconds).
//   Bounds:   a connection that says nothing is closed after hello_timeout_ns, or a minute where it has shown that it holds the
//             secret; at most 256 such at a time; all messages have one size.
//   Refusals: a rank that contradicts the others (how many ranks, which settings) ends its round for all, with the same
//             text on all, when all have come or two seconds later. A rank that is one too many, or a stray, is refused alone.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/parse_network.h"
#include "base/status.h"
#include "bootstrap/job_id.h"

namespace hcomm {

struct CoordinatorOptions {
  int ranks = 0;             // of the job; 0: the first rank to arrive says how many
  bool many_rounds = false;  // a launcher's job meets as often as it likes; a unique id once
  // Makes the segment that all rounds of the job share, when the first round is complete; the result is a descriptor.
  std::function<Result<int>(int ranks)> make_segment;
  std::vector<std::byte> table;  // of members, to be handed out in place of the meeting's own; empty: its own
  std::vector<Address> listen_at;  // for ranks of other hosts; empty: ranks of this host alone
  PortRange ports;                 // where an address has port 0
  // For a line about strays and other things that are nobody's error; may be empty.
  std::function<void(std::string_view line)> warn;
  TimeNs hello_timeout_ns = 2 * kSecond;
  TimeNs name_until = 0;  // how long to wait for another process to leave the meeting's name (MonotonicClock)
  TimeNs linger_ns = 10 * kSecond;  // how long an id whose meeting failed still tells late ranks why
};

class Coordinator {
 public:
  virtual ~Coordinator() = default;

  // An id of one round has answered everybody, and its thread has ended. Any thread.
  virtual bool finished() const = 0;

  // Where ranks of other hosts find it, for the job's id.
  virtual std::vector<Address> addresses() const = 0;

  // In the child of a fork: closes the sockets, so that the child does not hide its parent's end. The object is then never
  // destroyed.
  virtual void abandon_in_child() = 0;
};

// Listens from before it returns on, so that a rank that holds the id finds it.
Result<std::unique_ptr<Coordinator>> start_coordinator(const JobId& id, CoordinatorOptions options);

}  // namespace hcomm
