// Which processes can share memory: those with the same identity.
#pragma once

#include <string>

namespace hcomm {

struct IdentityPaths {
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
  std::string namespaces = "/proc/self/ns";
};

// The boot of the kernel and the namespaces that decide who can meet whom (ipc, mnt, net, pid, user), as one line without
// spaces. Containers on one machine that share none of them differ here, as they should. What is hidden reads
// "unknown"; a hidden boot is replaced by the host's name.
std::string host_identity(const IdentityPaths& paths = {});

}  // namespace hcomm
