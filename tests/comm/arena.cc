#include "arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>

#include "transport/local_memory.h"

namespace hcomm::testing {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kCanary = 64;
constexpr std::byte kAlive{0xc5};

}  // namespace

Arena::~Arena() { release(); }

void Arena::release() {
  if (memory_ == nullptr) return;
  if (window_) {
    static_cast<void>(free_window(memory_));
  } else {
    munmap(memory_, capacity_);
  }
  memory_ = nullptr;
}

std::span<std::byte> Arena::take(std::size_t bytes, std::size_t skew) {
  const std::size_t needed = (bytes + skew + 2 * kCanary + kPage) / kPage * kPage;
  if (read_only_) mprotect(memory_, capacity_, PROT_READ | PROT_WRITE);
  read_only_ = false;
  if (needed > capacity_) {
    release();
    if (window_) {
      auto made = allocate_window(needed);
      if (!made.ok()) throw std::runtime_error(std::string(made.status().trail()));
      memory_ = static_cast<std::byte*>(made.value());
    } else {
      void* const made = mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (made == MAP_FAILED) throw std::runtime_error("no memory for a test");
      memory_ = static_cast<std::byte*>(made);
    }
    capacity_ = needed;
  }
  bytes_ = bytes;
  skew_ = skew;
  std::fill_n(memory_, skew + kCanary, kAlive);
  std::fill_n(memory_ + skew + kCanary + bytes, kCanary, kAlive);
  return {memory_ + skew + kCanary, bytes};
}

void Arena::forbid_writes() {
  if (window_) return;  // a peer's mapping of it is a mapping of its own
  mprotect(memory_, capacity_, PROT_READ);
  read_only_ = true;
}

bool Arena::canaries_live() const {
  const auto alive = [](std::byte each) { return each == kAlive; };
  return std::all_of(memory_, memory_ + skew_ + kCanary, alive) &&
         std::all_of(memory_ + skew_ + kCanary + bytes_, memory_ + skew_ + 2 * kCanary + bytes_, alive);
}

}  // namespace hcomm::testing
