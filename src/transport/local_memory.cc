#include "transport/local_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "transport/cursor.h"
#include "transport/segment.h"

namespace hcomm {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 46;
constexpr int kFirstDescriptor = 3;  // an id is never 0, and never a standard stream's

struct LocalWindow {
  std::uintptr_t start = 0;  // of the memory that the user sees
  std::size_t bytes = 0;     // that the user sees
  std::size_t mapped_bytes = 0;
  int fd = -1;
  std::uint64_t generation = 0;

  std::byte* base() const { return reinterpret_cast<std::byte*>(start) - kPageBytes; }
};

class Registry {
 public:
  static Registry& instance() {
    static Registry* const registry = new Registry;  // never destroyed: users may free late
    return *registry;
  }

  void add(const LocalWindow& window) {
    const std::unique_lock lock(mutex_);
    windows_.insert(std::ranges::upper_bound(windows_, window.start, {}, &LocalWindow::start), window);
    publish();
  }

  std::optional<LocalWindow> remove(std::uintptr_t start) {
    const std::unique_lock lock(mutex_);
    const auto found = std::ranges::lower_bound(windows_, start, {}, &LocalWindow::start);
    if (found == windows_.end() || found->start != start) return std::nullopt;
    const LocalWindow window = *found;
    windows_.erase(found);
    publish();
    return window;
  }

  std::optional<WindowRef> find(std::uintptr_t start, std::size_t bytes) {
    if (start < lowest_.load(std::memory_order_acquire) || start >= highest_.load(std::memory_order_acquire)) return std::nullopt;
    const std::shared_lock lock(mutex_);
    auto above = std::ranges::upper_bound(windows_, start, {}, &LocalWindow::start);
    if (above == windows_.begin()) return std::nullopt;
    const LocalWindow& window = *--above;
    const std::size_t offset = start - window.start;
    if (offset >= window.bytes || bytes > window.bytes - offset) return std::nullopt;
    return WindowRef{.id = static_cast<std::uint64_t>(window.fd), .generation = window.generation, .offset = offset};
  }

  std::uint64_t next_generation() { return generation_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Registry() : generation_(static_cast<std::uint64_t>(MonotonicClock().now()) | 1) {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); }, [] { instance().forget(); });
  }

  void publish() {
    lowest_.store(windows_.empty() ? UINTPTR_MAX : windows_.front().start, std::memory_order_release);
    highest_.store(windows_.empty() ? 0 : windows_.back().start + windows_.back().bytes, std::memory_order_release);
  }

  // In the child of a fork: the mappings are not there, the descriptors are.
  void forget() {
    for (const LocalWindow& window : windows_) close(window.fd);
    windows_.clear();
    publish();
    std::construct_at(&mutex_);  // the lock knows its writer by thread, and this is another one
  }

  std::atomic<std::uintptr_t> lowest_{UINTPTR_MAX};  // the hull of all windows
  std::atomic<std::uintptr_t> highest_{0};
  std::atomic<std::uint64_t> generation_;
  std::shared_mutex mutex_;  // guards windows_
  std::vector<LocalWindow> windows_;  // by start
};

Status mapping_failure(std::size_t bytes, int error) {
  const hcommResult_t code = error == ENOMEM ? hcommOutOfMemory : hcommSystemError;
  return Status::failure(code, "allocating a window of " + std::to_string(bytes) + " bytes: " + std::strerror(error));
}

// The descriptor moved out of the way of the standard streams.
int above_standard_streams(int fd) {
  if (fd >= kFirstDescriptor) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, kFirstDescriptor);
  close(fd);
  return moved;
}

Result<LocalWindow> map_window(int fd, std::size_t bytes, std::size_t file_bytes) {
  void* const base = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) return mapping_failure(bytes, errno);
  if (madvise(base, file_bytes, MADV_DONTFORK) != 0) {
    const int error = errno;
    munmap(base, file_bytes);
    return mapping_failure(bytes, error);
  }
  const std::uint64_t generation = Registry::instance().next_generation();
  *static_cast<WindowHeader*>(base) = {.magic = kWindowMagic, .generation = generation, .bytes = bytes};
  return LocalWindow{.start = reinterpret_cast<std::uintptr_t>(base) + kPageBytes,
                     .bytes = bytes,
                     .mapped_bytes = file_bytes,
                     .fd = fd,
                     .generation = generation};
}

}  // namespace

Result<void*> allocate_window(std::size_t bytes) {
  if (bytes == 0) return Status::failure(hcommInvalidArgument, "a window of 0 bytes");
  if (bytes > kMostBytes) {
    return Status::failure(hcommOutOfMemory, "a window of " + std::to_string(bytes) + " bytes is more than a process can map");
  }
  const std::size_t file_bytes = kPageBytes + round_up(bytes, kPageBytes);
  Result<int> created = create_segment(file_bytes);
  if (!created.ok()) return std::move(created).status().during("allocating a window");
  const int fd = above_standard_streams(created.value());
  if (fd < 0) return mapping_failure(bytes, errno);
  Result<LocalWindow> window = map_window(fd, bytes, file_bytes);
  if (!window.ok()) {
    close(fd);
    return std::move(window).status();
  }
  Registry::instance().add(window.value());
  return reinterpret_cast<void*>(window.value().start);
}

Status free_window(void* memory) {
  const auto window = Registry::instance().remove(reinterpret_cast<std::uintptr_t>(memory));
  if (!window.has_value()) {
    return Status::failure(hcommInvalidArgument, "this is not the start of memory from hcommMemAlloc, or it was freed before");
  }
  reinterpret_cast<WindowHeader*>(window->base())->generation = 0;
  fallocate(window->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kPageBytes),
            static_cast<off_t>(window->mapped_bytes - kPageBytes));
  munmap(window->base(), window->mapped_bytes);
  close(window->fd);
  return {};
}

std::optional<WindowRef> find_window(const void* memory, std::size_t bytes) {
  return Registry::instance().find(reinterpret_cast<std::uintptr_t>(memory), bytes);
}

}  // namespace hcomm
