// Ranks as threads, each with a communicator of its own, for tests.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "comm/communicator.h"

namespace hcomm::testing {

// The settings with HCOMM_SLOTS of the environment, unless they say how many: so a whole test run can be made with one slot.
Settings with_environment_slots(Settings settings);

// A transport of tests alone: the first half of the ranks shares memory, the second half, too; between them there is TCP.
inline constexpr std::string_view kMixed = "mixed";

// Every way between ranks as threads, by its name for Settings::transport.
inline constexpr std::array<std::string_view, 4> kAllTransports = {"loopback", "shm", "tcp", kMixed};
constexpr bool has_window(std::string_view transport) { return transport != "tcp" && transport != kMixed; }

// Of one rank that is a process: where the transport is kMixed, the half it belongs to is its host.
Settings settings_of_process(Settings settings, int rank, int ranks);

// Fails the test (by an exception) if the communicators cannot be made.
std::vector<std::unique_ptr<Communicator>> make_world(int ranks, const Settings& settings);

// Runs body(communicator) for each rank in a thread of its own and joins them. The first exception of a rank is thrown again.
void run_ranks(const std::vector<std::unique_ptr<Communicator>>& world, const std::function<void(Communicator&)>& body);

// make_world and run_ranks.
void run_world(int ranks, const Settings& settings, const std::function<void(Communicator&)>& body);

// Throws a std::runtime_error with the trail unless the status is a success.
void require(const Status& status);

}  // namespace hcomm::testing
