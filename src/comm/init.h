// Making communicators.
#pragma once

#include <memory>
#include <vector>

#include "base/knobs.h"
#include "base/status.h"
#include "comm/communicator.h"
#include "hcomm/types.h"

namespace hcomm {

inline constexpr int kMaxInitAllRanks = 256;

// All ranks of one process. Without settings: the process's own (knobs.h).
Result<std::vector<std::unique_ptr<Communicator>>> init_all(int ranks);
Result<std::vector<std::unique_ptr<Communicator>>> init_all(int ranks, const Settings& settings);
// As if rank r were on host hosts[r], numbered from 0. Empty: one host.
Result<std::vector<std::unique_ptr<Communicator>>> init_all(int ranks, const Settings& settings, std::vector<int> hosts);

// A new id, served by this process.
Status make_unique_id(hcommUniqueId& id);
Status make_unique_id(hcommUniqueId& id, const Settings& settings);

// Of one rank.
Result<std::unique_ptr<Communicator>> init_alone(const Settings& settings);

// Joins an id, or what the launcher started. Collective.
Result<std::unique_ptr<Communicator>> init_rank(int ranks, const hcommUniqueId& id, int rank);
Result<std::unique_ptr<Communicator>> init_rank(int ranks, const hcommUniqueId& id, int rank, const Settings& settings);
Result<std::unique_ptr<Communicator>> init_env();

}  // namespace hcomm
