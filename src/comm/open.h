// Opens the transport of a communicator: which one, how large, and with what the kernel must be asked for.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/knobs.h"
#include "base/status.h"
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

// All ranks of one process.
Result<std::vector<std::unique_ptr<Transport>>> open_all(std::string_view transport, int ranks, const Sizes& sizes);

// One rank of several processes, in the communicator area `context` of a segment (borrowed).
Result<std::unique_ptr<Transport>> open_one(std::string_view transport, int segment_fd, int context, int rank, int ranks,
                                            const Sizes& sizes);

// A segment that holds all communicators of a job of so many ranks; the caller closes it.
Result<int> make_segment(int ranks, const Settings& settings);

}  // namespace hcomm
