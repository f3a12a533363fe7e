// Ranks of several hosts: channels through shared memory to the peers of this host, over TCP to all others. Has no window, for no
// memory is shared by all.
//
// The board lies in the memory of this host, if there is any, else here. What other hosts are to know of it the hub tells them,
// and what it hears of them it writes there. Each rank of a host does so, and all write the same.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/hub.h"
#include "transport/shm.h"
#include "transport/transport.h"

namespace hcomm {

struct MeshOptions {
  int rank = 0;
  int ranks = 1;
  std::uint32_t context = 0;             // which communicator of the job; each is used once
  SharedHub hub;
  std::unique_ptr<ShmTransport> local;   // null: no peer shares memory with this rank
  std::vector<bool> here;                // [rank]: who does
  std::vector<int> pids;                 // [rank]: for the board
};

std::unique_ptr<Transport> open_mesh(MeshOptions options);

}  // namespace hcomm
