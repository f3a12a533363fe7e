// A rank's side of a meeting.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/status.h"
#include "bootstrap/coordinator.h"
#include "bootstrap/job_id.h"
#include "bootstrap/message.h"
#include "bootstrap/socket.h"

namespace hcomm {

struct JoinOptions {
  int rank = 0;
  int ranks = 1;
  std::uint64_t round = 0;  // of a launcher's job: the how-manyth meeting of this process, from 0
  TimeNs timeout_ns = 120 * kSecond;
  std::string agreement;    // agreement_text() of this rank's knobs
  HostId host{};            // of whoever this rank shares memory with
  bool host_is_told = false;  // by the user, and not found out: then only ranks that are told the same are of one host
  std::vector<Address> addresses;  // these three for Facts
  CoreUse cores;
  std::uint8_t store = 0;
  // Several hosts: where this rank may listen while it hands the table of members on; empty: hands nothing on.
  std::vector<Address> listen_at;
  PortRange ports;  // where an address has port 0
  // Several hosts: makes the segment that the ranks of this rank's host share, laid out for all ranks of the job; a descriptor.
  // On the lowest rank of the host.
  std::function<Result<int>()> make_segment;
  // Takes what serves that segment until all have it (coordinator.h: finished()).
  std::function<void(std::unique_ptr<Coordinator>)> keep;
  // Told, every progress_every_ns, in one line who is awaited; may be empty. On the caller's thread.
  std::function<void(std::string_view line)> progress;
  TimeNs progress_every_ns = 5 * kSecond;
  // Where rank 0 serves the meeting of a run: nobody may serve it yet, or still the rank 0 of a program that ran before in the
  // same run, which this one then waits out.
  Absent server = Absent::is_an_error;
};

// Where the time of a meeting went, on this rank.
struct MeetingTimes {
  TimeNs arrived_ns = 0;  // until all had come and this rank was told so
  TimeNs table_ns = 0;    // then until it knew the members
  TimeNs segment_ns = 0;  // then until it had the segment
};

struct Meeting {
  Descriptor segment;           // close-on-exec; the same memory on all local_ranks, laid out for all ranks; may be none
  std::uint64_t context = 0;    // which communicator of the job, and of the segment, this is
  std::vector<Member> members;  // [rank]
  std::vector<int> local_ranks;  // of this rank's host, in rank order, itself among them; equal on all of them
  MeetingTimes times;

  bool one_host() const { return local_ranks.size() == members.size(); }
};

// Collective. Blocks until all ranks have come, or until one of them has waited for its timeout; then hcommTimeout on all, with
// the missing ranks by name. hcommMismatch when the ranks contradict each other.
Result<Meeting> join(const JobId& id, const JoinOptions& options);

}  // namespace hcomm
