// How many cores this process may use.
#pragma once

#include <optional>
#include <string>

namespace hcomm {

// Where the kernel tells of cgroups; tests make their own tree.
struct CgroupPaths {
  std::string membership = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
};

// The tightest CPU quota of this process's cgroup and all that contain it, in cores; version 1, 2 or both. Nothing if
// there is no limit, or none that can be seen.
std::optional<double> cpu_quota(const CgroupPaths& paths = {});

// Processors in the calling thread's affinity mask; at least 1.
int affine_processors();

// The smaller of the two, a quota rounded up; at least 1.
int usable_cores(const CgroupPaths& paths = {});

}  // namespace hcomm
