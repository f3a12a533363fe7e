// What a rank tells the others about its process.
#pragma once

#include <cstdint>

namespace hcomm {

struct Facts {
  std::int32_t pid = 0;             // as its own /proc knows it; ranks of two pid namespaces may have the same one
  std::uint32_t uid = 0;
  std::uint64_t pid_namespace = 0;  // inode of /proc/self/ns/pid; 0: unknown. Pids mean something only where this is equal

  friend bool operator==(const Facts&, const Facts&) = default;
};

Facts own_facts();

}  // namespace hcomm
