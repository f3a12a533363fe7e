// The futex system calls, on words that may be shared between processes.
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"

namespace hcomm {

inline constexpr int kWakeAll = INT_MAX;

// Sleeps while the word is `expected`, `most` at the longest. False: the time is over. True means: look again.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs most);

struct ExpectedWord {
  const std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t expected = 0;
};

inline constexpr std::size_t kMostWords = 128;  // the kernel's limit

// The same on several words, until one of them is woken or not as expected. Linux 5.16. False: this kernel cannot, or may not.
bool futex_wait_any(std::span<const ExpectedWord> words, TimeNs most);

void futex_wake(const std::atomic<std::uint32_t>& word, int waiters);

}  // namespace hcomm
