#include "base/process.h"

#include <pthread.h>

#include <atomic>

namespace hcomm {
namespace {

std::atomic<std::uint32_t> generation{0};

void count_fork() { generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

std::uint32_t fork_generation() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, count_fork);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace hcomm
