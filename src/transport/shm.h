// Ranks of one host, in processes of one user, over a sealed memory file that all of them have mapped.
//
//   Liveness: see keeper.h. A rank whose transport was closed counts as left (Board::has_left), one whose process ended
//             as dead. Neither finishes or fails what was posted: who waits for that rank decides.
//   Fork:     in a child the memory is not there. Of a transport made before the fork a child may only call the destructor,
//             which then does nothing to the peers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/status.h"
#include "transport/byte_ring.h"
#include "transport/segment.h"
#include "transport/transport.h"

namespace hcomm {

inline constexpr std::size_t kDefaultRingBytes = 64 << 10;

// The same on all ranks but for rank and copy_out.
struct ShmOptions {
  int segment_fd = -1;  // from create_segment; borrowed during the call
  int context = 0;      // the communicator's area in it, in [0, kMaxContexts); each is used once
  int rank = 0;
  int ranks = 1;
  int slots = 2;
  std::size_t slot_bytes = 4096;
  std::size_t ring_bytes = kDefaultRingBytes;
  CopyOut copy_out = nullptr;  // null: memcpy
  std::vector<bool> here = {};  // [rank]: who shares the memory; empty: all. Channels lead to those alone
};

class ShmTransport : public Transport {
 public:
  // For a rank that also waits for other hosts and therefore sleeps elsewhere: peers ring at that socket, and whoever slept
  // there in vain says for how long.
  virtual void sleep_at(BellName socket) = 0;
  virtual void has_slept(TimeNs silence) = 0;
};

Result<std::unique_ptr<ShmTransport>> open_shm(const ShmOptions& options);

}  // namespace hcomm
