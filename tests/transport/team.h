// N ranks that each run the same body: as threads of this process, or as children of it. A body says what it finds wrong by
// throwing (expect), because a Catch assertion works neither in a thread nor in a child.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "transport/faults.h"
#include "transport/hub.h"
#include "transport/transport.h"

namespace hcomm::test {

// mixed: the first half of the ranks shares memory, and so does the second; between the halves there is TCP.
enum class Kind { loopback, shm_threads, shm_processes, tcp, mixed };

std::string_view name(Kind kind);
constexpr bool has_window(Kind kind) { return kind != Kind::tcp && kind != Kind::mixed; }

struct TeamSpec {
  Kind kind = Kind::loopback;
  int ranks = 2;
  int slots = 2;
  std::size_t slot_bytes = 1024;
  std::size_t ring_bytes = 4096;
  FaultPlan faults = FaultPlan::none();
  std::uint64_t seed = 1;
};

// Throws what is wrong.
void expect(bool condition, std::string_view what);

// Turns until `done`, asleep where there is nothing to do; throws after 20 s.
void turn_until(Transport& transport, const std::function<bool()>& done);

// Until it ends well; throws its failure.
void wait_for(Transport& transport, const Completion& completion);

// `bytes` bytes that differ from seed to seed.
std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed);

// A message in one part.
void send(Transport& transport, int peer, Lane lane, const std::vector<std::byte>& message, Completion& completion);
void recv(Transport& transport, int peer, Lane lane, std::vector<std::byte>& message, Completion& completion);

// All ranks meet, by the steps in the window, or by messages where there is none. `meeting` is 1, 2, 3, ...
void meet(Transport& transport, std::uint64_t meeting);

// The whole of a small file.
std::string read_file(const std::string& path);

// Hubs of so many ranks that know each other, on the loopback interface.
std::vector<std::shared_ptr<Hub>> open_hubs(int ranks);

// One that knows nobody yet and listens there; `at` gets its port.
std::shared_ptr<Hub> open_hub(const Secret& secret, int rank, int ranks, Address& at);

// All ranks in this process (not shm_processes), without faults.
std::vector<std::unique_ptr<Transport>> open_all(const TeamSpec& spec);

using Body = std::function<void(Transport& transport, int rank)>;

// Runs the body on every rank. "" if all was well, else what went wrong on which rank. A rank that a signal ends (shm_processes)
// is reported as "rank 1: signal 9".
std::string run_team(const TeamSpec& spec, const Body& body);

}  // namespace hcomm::test
