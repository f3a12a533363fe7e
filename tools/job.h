// The launcher that the user sees: it starts the supervisor, passes signals on to it, and outlives or is outlived by it.
#pragma once

#include <string>
#include <vector>

#include "supervisor.h"

namespace hcomm {

inline constexpr int kMaxJobRanks = 4096;

// Runs `command` as ranks of one job and returns the exit code. Call it while this process has one thread.
int run_job(const JobOptions& options, const std::vector<std::string>& command);

}  // namespace hcomm
