// A rank's side of a meeting.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "bootstrap/descriptor.h"
#include "bootstrap/job_id.h"
#include "bootstrap/message.h"

namespace hcomm {

struct JoinOptions {
  int rank = 0;
  int ranks = 1;
  std::uint64_t round = 0;  // of a launcher's job: the how-manyth meeting of this process, from 0
  TimeNs timeout_ns = 120 * kSecond;
  std::string agreement;    // agreement_text() of this rank's knobs
  // Told, every progress_every_ns, in one line who is awaited; may be empty. On the caller's thread.
  std::function<void(std::string_view line)> progress;
  TimeNs progress_every_ns = 5 * kSecond;
};

struct Meeting {
  Descriptor segment;         // close-on-exec; the same memory on all ranks
  std::uint64_t context = 0;  // which communicator of the segment this is
  std::vector<Member> members;  // [rank]
};

// Collective. Blocks until all ranks have come, or until one of them has waited for its timeout; then hcommTimeout on all, with
// the missing ranks by name. hcommMismatch when the ranks contradict each other.
Result<Meeting> join(const JobId& id, const JoinOptions& options);

}  // namespace hcomm
