// The sign of life of one rank, in shared memory: a robust futex that the rank's keeper thread holds. When the process ends in
// whatever way, the kernel itself marks the word and wakes a watcher, before it releases the process's memory.
#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstdint>

namespace hcomm {

struct alignas(64) Pulse {
  // Addresses of the owner's process, for the kernel alone; nobody here follows them.
  robust_list node{nullptr};
  // 0: not here (yet, or any more); else the keeper's thread id, with the kernel's FUTEX_WAITERS and FUTEX_OWNER_DIED.
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint32_t> unused{0};
  std::atomic<std::uint64_t> pid_namespace{0};  // of the owner; 0: unknown
};
static_assert(sizeof(Pulse) == 64);

}  // namespace hcomm
