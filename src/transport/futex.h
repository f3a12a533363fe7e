// The futex system calls, on words that may be shared between processes.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "base/clock.h"

namespace hcomm {

inline constexpr int kWakeAll = INT_MAX;

// Sleeps while the word is `expected`, `most` at the longest. False: the time is over. True means: look again.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs most);

void futex_wake(const std::atomic<std::uint32_t>& word, int waiters);

}  // namespace hcomm
