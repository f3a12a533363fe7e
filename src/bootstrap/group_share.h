// What the ranks of one host do among themselves in a meeting of several hosts: their leader makes the segment and serves it,
// with the table of members, at a Unix socket whose name and secret follow from the job's; the others fetch both there.
#pragma once

#include <optional>

#include "base/clock.h"
#include "bootstrap/attendant.h"
#include "bootstrap/job_id.h"
#include "bootstrap/join.h"
#include "net/kernel_network.h"

namespace hcomm {

// Of the ranks that this leader leads, in the meeting of this context.
JobId group_id(const JobId& job, std::uint64_t context, int leader);

class GroupShare {
 public:
  // All outlive it.
  GroupShare(KernelNetwork& network, const JobId& job, const JoinOptions& options)
      : network_(network), job_(job), options_(options) {}

  void step(Attendant& attendant);
  TimeNs next_deadline() const { return fetching_.has_value() ? fetching_->next_deadline() : again_at_; }

 private:
  Status serve(Attendant& attendant);
  void fetch(Attendant& attendant);

  KernelNetwork& network_;
  const JobId& job_;
  const JoinOptions& options_;
  JoinOptions inner_;
  std::optional<Attendant> fetching_;
  TimeNs again_at_ = kNever;  // the leader's end was lost
};

}  // namespace hcomm
