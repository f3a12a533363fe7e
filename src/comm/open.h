// Opens the transport of a communicator: which one, how large, and with what the kernel must be asked for.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "base/status.h"
#include "plan/layout.h"
#include "transport/hub.h"
#include "transport/transport.h"

namespace hcomm {

// What follows from the number of ranks and the settings; the same on all ranks.
struct Sizes {
  int slots = 2;
  std::size_t slot_bytes = 0;
  std::size_t ring_bytes = 0;
};
Result<Sizes> choose_sizes(int ranks, const Settings& settings);

// The best transport that HCOMM_TRANSPORT allows; between processes, or between threads of one. InvalidArgument when it names
// what there is not, InvalidUsage when nothing it allows will do; the text names the legal ones.
Result<std::string_view> choose_transport(const Settings& settings, bool between_processes);

// Whether it lets this one be used. False, too, when its text is not legal.
bool allows_transport(const Settings& settings, std::string_view name);

// How the ranks reach each other.
struct Ways {
  int ranks = 1;
  RankLayout layout;
  bool shares_memory = true;  // the ranks of a host, else TCP alone

  bool are_memory_alone() const { return shares_memory && layout.hosts() == 1; }
  // By name, for people: "shm", "tcp", or "shm+tcp".
  std::string_view transport_name() const;
};

// All ranks of one process. Of several hosts, or of one that shares no memory: over TCP on the loopback interface.
Result<std::vector<std::unique_ptr<Transport>>> open_all(std::string_view transport, const Ways& ways, const Sizes& sizes);

// One rank of several processes.
struct Place {
  int segment_fd = -1;  // borrowed; the memory of this rank's host
  int context = 0;      // which communicator of the job
  int rank = 0;
  Ways ways;
  std::vector<int> pids;  // [rank]
  SharedHub hub;          // knows its peers; null if memory alone leads to them
};
Result<std::unique_ptr<Transport>> open_one(const Place& place, const Sizes& sizes);

// A segment that holds all communicators of a job of so many ranks; the caller closes it.
Result<int> make_segment(int ranks, const Settings& settings);

}  // namespace hcomm
