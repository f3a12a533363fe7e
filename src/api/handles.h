// Handles of communicators. A handle is a number in a pointer's clothes: a place in a fixed table and the generation of
// that place, so that a handle that was destroyed, or never was one, is recognised and never followed.
//
//   Threads: any. Destroying a communicator that another thread is using is the caller's bug.
#pragma once

#include <memory>

#include "base/status.h"
#include "comm/communicator.h"
#include "hcomm/types.h"

namespace hcomm {

inline constexpr std::size_t kMaxCommunicators = 16384;  // alive at once in a process

// OutOfMemory when all places are taken.
Result<hcommComm_t> add_handle(std::unique_ptr<Communicator> communicator);

// Null for what is no live handle.
Communicator* find_communicator(hcommComm_t handle);

// Takes it out of the table; null for what is no live handle.
std::unique_ptr<Communicator> take_communicator(hcommComm_t handle);

// InvalidArgument that tells NULL and stale handles apart.
Status no_such_handle(hcommComm_t handle);

}  // namespace hcomm
