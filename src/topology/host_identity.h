// Which processes run on one machine, and which of those can share memory: those with the same identity.
#pragma once

#include <string>

namespace hcomm {

struct IdentityPaths {
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
  std::string namespaces = "/proc/self/ns";
};

// The boot of the kernel, as a line without spaces. Whose this is the same share cores, whatever containers they are in. A hidden
// boot is replaced by the host's name.
std::string machine_identity(const IdentityPaths& paths = {});

// The same, and what decides who can hand memory to whom over an abstract socket: the namespaces of the network and of users, and
// the user. Other namespaces (ipc, mnt, pid) do not matter: containers of one pod share memory. What is hidden reads "unknown".
std::string host_identity(const IdentityPaths& paths = {});

}  // namespace hcomm
