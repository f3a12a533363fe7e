#include "transport/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

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

void futex_wake(const std::atomic<std::uint32_t>& word, int waiters) {
  syscall(SYS_futex, &word, FUTEX_WAKE, waiters, nullptr, nullptr, 0);
}

}  // namespace hcomm
