// What a rank tells the others about its process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/address.h"

namespace hcomm {

// Equal on ranks that can share memory. All zero: where the coordinator is.
using HostId = std::array<std::byte, 16>;

// Of a text that is the same for all processes of a host: its SHA-256, cut.
HostId host_id(std::string_view identity);

inline constexpr std::size_t kMaxMemberAddresses = 4;

// The cores that a process may use, as whoever counts the cores of a job needs them.
struct CoreUse {
  static constexpr std::size_t kMaskWords = 16;  // 1024 processors

  HostId machine{};         // equal where one kernel runs both, whatever they share
  std::uint32_t quota = 0;  // whole cores that the cgroup allows; 0: no limit
  std::array<std::uint64_t, kMaskWords> mask{};  // processor p: bit p % 64 of word p / 64

  friend bool operator==(const CoreUse&, const CoreUse&) = default;
};

struct Facts {
  std::int32_t pid = 0;             // as its own /proc knows it; ranks of two pid namespaces may have the same one
  std::uint32_t uid = 0;
  std::uint64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0: unknown. Pids mean something only where this is equal
  HostId host{};
  std::vector<Address> addresses;   // where it listens for links of other hosts, best first; at most kMaxMemberAddresses
  CoreUse cores;
  std::uint8_t store = 0;           // of rank 0, for all: how best to write what another process reads (base/copy.h)

  friend bool operator==(const Facts&, const Facts&) = default;
};

// Of this process; the host and all below it are the caller's to say.
Facts own_facts();

}  // namespace hcomm
