// What names a run for all of its ranks and for no other run, where the launcher gives no id of ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "bootstrap/job_id.h"

namespace hcomm {

// The same for the same user and the same facts in the same order, whatever they hold. It is no secret: whoever knows the facts
// can compute it, so at such a meeting the kernel's word on who is at the other end is what keeps strangers out.
Result<JobId> derive_run_id(std::uint32_t user, const std::vector<std::string>& facts);

// Where rank 0 of a run with several hosts listens: one of 8192 ports from 20000 on, below torch's own and those that the
// kernel hands out by itself. Derived from the run, so that all ranks know it and two runs seldom want the same.
inline constexpr int kFirstRunPort = 20000;
inline constexpr int kRunPorts = 8192;
int run_port(const JobId& run);

}  // namespace hcomm
