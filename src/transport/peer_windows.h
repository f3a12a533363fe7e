// Reading the windows of peers: memory from hcommMemAlloc in another process of this host, mapped here on first use, read only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace hcomm {

// A place in a window, as its owner publishes it.
struct WindowRef {
  std::uint64_t id = 0;          // the descriptor of the window's file in its owner; never 0
  std::uint64_t generation = 0;  // no other window of this owner has it
  std::uint64_t offset = 0;      // in the window, in bytes

  friend bool operator==(const WindowRef&, const WindowRef&) = default;
};

// The first page of a window's file, before the memory that the user sees.
struct WindowHeader {
  std::uint64_t magic = 0;
  std::uint64_t generation = 0;  // 0: freed
  std::uint64_t bytes = 0;       // that the user sees
};
inline constexpr std::uint64_t kWindowMagic = 0x31776f646e697768;

// One thread. Not for use in a child of the process that made it: there only the destructor may be called.
class PeerWindows {
 public:
  static constexpr std::size_t kMostMappings = 2048;

  PeerWindows();
  PeerWindows(const PeerWindows&) = delete;
  PeerWindows& operator=(const PeerWindows&) = delete;
  ~PeerWindows();

  // Where `bytes` bytes of the peer's window lie here. The owner's words are checked: a file that is not a window, another
  // generation and a range outside the window are RemoteError. The address is good until kMostMappings other windows
  // have been mapped.
  Result<const std::byte*> map(int peer, int peer_pid, const WindowRef& window, std::size_t bytes);

  std::size_t mappings() const { return mappings_.size(); }

 private:
  struct Mapping {
    int peer = 0;
    std::uint64_t id = 0;
    std::uint64_t generation = 0;
    const std::byte* base = nullptr;  // of the file
    std::size_t mapped_bytes = 0;
    std::size_t user_bytes = 0;
    std::uint64_t last_use = 0;
  };

  static Result<Mapping> attach(int peer, int peer_pid, const WindowRef& window);
  Mapping* find(int peer, const WindowRef& window);
  void make_room(int peer, const WindowRef& window);
  void drop(std::size_t index);

  std::vector<Mapping> mappings_;
  std::vector<std::size_t> latest_;  // [peer]: index of the mapping used last; a guess
  std::uint64_t uses_ = 0;
  std::uint32_t process_;  // the fork generation it was made in
};

struct PeerProcess {
  int pid = 0;
  std::uint64_t pid_namespace = 0;  // inode of its /proc/self/ns/pid
};

// Whether this process may open the files of all of these: the same pid namespace, a /proc that shows it, and permission.
bool can_map_peers(std::span<const PeerProcess> peers);

// Inode of /proc/self/ns/pid; 0 if there is none to see.
std::uint64_t own_pid_namespace();

}  // namespace hcomm
