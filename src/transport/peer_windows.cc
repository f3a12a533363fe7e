#include "transport/peer_windows.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

#include "base/process.h"
#include "transport/cursor.h"

namespace hcomm {
namespace {

class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

Status not_a_window(int peer, const WindowRef& window, std::string_view why) {
  return Status::failure(hcommRemoteError, "rank " + std::to_string(peer) + " exposed descriptor " + std::to_string(window.id) +
                                               ", which is not the window it says: " + std::string(why));
}

Status cannot_open(int peer, const std::string& path, int error) {
  return Status::failure(hcommSystemError,
                         "opening a window of rank " + std::to_string(peer) + " (" + path + "): " + std::strerror(error));
}

// The number names whatever file the peer has there. It is looked at before it is really opened, because opening a device
// or a pipe may do something.
Result<int> open_regular(int peer, int peer_pid, const WindowRef& window) {
  const std::string path = "/proc/" + std::to_string(peer_pid) + "/fd/" + std::to_string(window.id);
  const OpenFile handle(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!handle.is_open()) {
    if (errno == ENOENT) return not_a_window(peer, window, "it is not open");
    return cannot_open(peer, path, errno);
  }
  struct stat file{};
  if (fstat(handle.fd(), &file) != 0 || !S_ISREG(file.st_mode)) return not_a_window(peer, window, "not a memory file");
  const std::string again = "/proc/self/fd/" + std::to_string(handle.fd());
  const int fd = open(again.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_open(peer, again, errno);
  return fd;
}

}  // namespace

PeerWindows::PeerWindows() : process_(fork_generation()) {}

PeerWindows::~PeerWindows() {
  if (fork_generation() != process_) return;  // a child: not mapped here
  while (!mappings_.empty()) drop(mappings_.size() - 1);
}

Result<const std::byte*> PeerWindows::map(int peer, int peer_pid, const WindowRef& window, std::size_t bytes) {
  HCOMM_ASSERT(peer >= 0);
  Mapping* mapping = find(peer, window);
  if (mapping == nullptr) {
    Result<Mapping> attached = attach(peer, peer_pid, window);
    if (!attached.ok()) return std::move(attached).status();
    make_room(peer, window);
    mapping = &mappings_.emplace_back(attached.value());
  }
  if (window.offset > mapping->user_bytes || bytes > mapping->user_bytes - window.offset) {
    return not_a_window(peer, window, "the range ends outside of it");
  }
  mapping->last_use = ++uses_;
  const auto index = static_cast<std::size_t>(peer);
  if (latest_.size() <= index) latest_.resize(index + 1);
  latest_[index] = static_cast<std::size_t>(mapping - mappings_.data());
  return mapping->base + kPageBytes + window.offset;
}

Result<PeerWindows::Mapping> PeerWindows::attach(int peer, int peer_pid, const WindowRef& window) {
  if (peer_pid <= 0 || window.id == 0 || window.id > INT_MAX) return not_a_window(peer, window, "an impossible number");
  Result<int> opened = open_regular(peer, peer_pid, window);
  if (!opened.ok()) return std::move(opened).status();
  const OpenFile file(opened.value());
  struct stat facts{};
  const int seals = fcntl(file.fd(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return not_a_window(peer, window, "it could shrink");
  if (fstat(file.fd(), &facts) != 0 || facts.st_size < static_cast<off_t>(2 * kPageBytes)) {
    return not_a_window(peer, window, "too small");
  }
  const auto file_bytes = static_cast<std::size_t>(facts.st_size);
  void* const base = mmap(nullptr, file_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, file.fd(), 0);
  if (base == MAP_FAILED) {
    return Status::failure(hcommOutOfMemory, "mapping a window of rank " + std::to_string(peer) + ": " + std::strerror(errno));
  }
  const WindowHeader header = *static_cast<const WindowHeader*>(base);  // our copy: the owner cannot change it after the check
  const bool kept = madvise(base, file_bytes, MADV_DONTFORK) == 0;
  if (!kept || header.magic != kWindowMagic || header.generation != window.generation || header.bytes > file_bytes - kPageBytes) {
    munmap(base, file_bytes);
    return not_a_window(peer, window, header.magic == kWindowMagic ? "it was freed, or is another one" : "no window header");
  }
  return Mapping{.peer = peer,
                 .id = window.id,
                 .generation = window.generation,
                 .base = static_cast<const std::byte*>(base),
                 .mapped_bytes = file_bytes,
                 .user_bytes = header.bytes};
}

PeerWindows::Mapping* PeerWindows::find(int peer, const WindowRef& window) {
  const auto fits = [&](const Mapping& mapping) {
    return mapping.peer == peer && mapping.id == window.id && mapping.generation == window.generation;
  };
  const auto index = static_cast<std::size_t>(peer);
  const std::size_t guess = index < latest_.size() ? latest_[index] : mappings_.size();
  if (guess < mappings_.size() && fits(mappings_[guess])) return &mappings_[guess];
  const auto found = std::ranges::find_if(mappings_, fits);
  return found == mappings_.end() ? nullptr : &*found;
}

// Older windows behind the same descriptor are gone in their owner; beyond them the one not used for longest goes.
void PeerWindows::make_room(int peer, const WindowRef& window) {
  for (std::size_t i = mappings_.size(); i-- > 0;) {
    if (mappings_[i].peer == peer && mappings_[i].id == window.id) drop(i);
  }
  if (mappings_.size() < kMostMappings) return;
  const auto oldest = std::ranges::min_element(mappings_, {}, &Mapping::last_use);
  drop(static_cast<std::size_t>(oldest - mappings_.begin()));
}

void PeerWindows::drop(std::size_t index) {
  const Mapping& mapping = mappings_[index];
  munmap(const_cast<std::byte*>(mapping.base), mapping.mapped_bytes);
  mappings_[index] = mappings_.back();
  mappings_.pop_back();
}

std::uint64_t own_pid_namespace() {
  struct stat file{};
  return stat("/proc/self/ns/pid", &file) == 0 ? static_cast<std::uint64_t>(file.st_ino) : 0;
}

bool can_map_peers(std::span<const PeerProcess> peers) {
  const std::uint64_t own = own_pid_namespace();
  if (own == 0) return false;
  std::array<char, 32> self{};
  const bool is_our_proc = readlink("/proc/self", self.data(), self.size() - 1) > 0 && std::to_string(getpid()) == self.data();
  // Reading this link needs the same permission as opening a descriptor.
  const auto reaches = [own](const PeerProcess& peer) {
    if (peer.pid <= 0 || peer.pid_namespace != own) return false;
    char target = 0;
    return readlink(("/proc/" + std::to_string(peer.pid) + "/exe").c_str(), &target, 1) >= 0;
  };
  return is_our_proc && std::ranges::all_of(peers, reaches);
}

}  // namespace hcomm
