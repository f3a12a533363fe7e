// The keeper: one thread per process, there while a shared-memory transport is open. It answers for the life of this
// process's ranks and watches those of others.
//
//   Holds:   the pulse of each local rank, a robust futex. The kernel's list of those belongs to a thread, and the thread of
//            a user may end while its rank lives on; the keeper ends with the process.
//   Watches: of each communicator, the pulse of the next rank to the right that still lives. So each rank has one watcher
//            who is alive, however many die at once: who finds its neighbour dead goes on to the next.
//   Tells:   raises `dead` of who died, and rings all ranks.
//
// It blocks all signals and runs no code of the user. The child of a fork has no keeper and no ranks.
#pragma once

#include <vector>

#include "base/status.h"
#include "transport/board.h"
#include "transport/pulse.h"
#include "transport/window.h"

namespace hcomm {

// One local rank of one communicator, and its peers. The memory stays mapped from join to leave.
struct LifeLine {
  int ranks = 0;
  int self = 0;
  Pulse* pulses = nullptr;        // [ranks]
  Doorbell* doorbells = nullptr;  // [ranks]
  Board board;
  std::vector<bool> here;  // [rank]: who has a pulse in this memory; empty: all

  bool watches(int rank) const { return rank != self && (here.empty() || here[static_cast<std::size_t>(rank)]); }
};

// From now on peers learn of the death of this process. Starts the keeper if there is none. InvalidUsage if the rank is
// already here.
Status join_keeper(const LifeLine& line);

// Releases the pulse: what happens to the process no longer concerns this communicator. Ends the keeper with the last one.
void leave_keeper(const LifeLine& line);

// Marks as dead those peers whose process is gone although no keeper said so (their keeper may have been unable to). Costs a
// system call for each peer.
void check_processes(const LifeLine& line);

}  // namespace hcomm
