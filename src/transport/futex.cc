#include "transport/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/assert.h"

namespace hcomm {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs most) {
  if (most <= 0) return false;
  timespec time{};
  time.tv_sec = most / kSecond;
  time.tv_nsec = most % kSecond;
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
  return !(result == -1 && errno == ETIMEDOUT);
}

bool futex_wait_any(std::span<const ExpectedWord> words, TimeNs most) {
  static_assert(kMostWords == FUTEX_WAITV_MAX);
  HCOMM_ASSERT(words.size() <= kMostWords);
  std::array<futex_waitv, kMostWords> waiters{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    waiters[i].uaddr = reinterpret_cast<std::uintptr_t>(words[i].word);
    waiters[i].val = words[i].expected;
    waiters[i].flags = FUTEX_32;  // and not private: peers are other processes
  }
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  const TimeNs nanoseconds = end.tv_nsec + most % kSecond;
  end.tv_sec += most / kSecond + nanoseconds / kSecond;
  end.tv_nsec = nanoseconds % kSecond;
  const long result = syscall(SYS_futex_waitv, waiters.data(), words.size(), 0, &end, CLOCK_MONOTONIC);
  return !(result == -1 && (errno == ENOSYS || errno == EPERM || errno == EINVAL));
}

void futex_wake(const std::atomic<std::uint32_t>& word, int waiters) {
  syscall(SYS_futex, &word, FUTEX_WAKE, waiters, nullptr, nullptr, 0);
}

}  // namespace hcomm
