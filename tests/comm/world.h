// Ranks as threads, each with a communicator of its own, for tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/knobs.h"
#include "comm/communicator.h"

namespace hcomm::testing {

// The settings with HCOMM_SLOTS of the environment, unless they say how many: so a whole test run can be made with one slot.
Settings with_environment_slots(Settings settings);

// Fails the test (by an exception) if the communicators cannot be made.
std::vector<std::unique_ptr<Communicator>> make_world(int ranks, const Settings& settings);

// Runs body(communicator) for each rank in a thread of its own and joins them. The first exception of a rank is thrown again.
void run_ranks(const std::vector<std::unique_ptr<Communicator>>& world, const std::function<void(Communicator&)>& body);

// make_world and run_ranks.
void run_world(int ranks, const Settings& settings, const std::function<void(Communicator&)>& body);

// Throws a std::runtime_error with the trail unless the status is a success.
void require(const Status& status);

}  // namespace hcomm::testing
