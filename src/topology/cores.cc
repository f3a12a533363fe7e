#include "topology/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string_view>
#include <vector>

namespace hcomm {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Quota and period in microseconds, to cores. Anything but two positive numbers is no limit.
std::optional<double> in_cores(const std::string& quota, const std::string& period) {
  char* end = nullptr;
  const double quota_us = std::strtod(quota.c_str(), &end);
  if (end == quota.c_str()) return {};
  const double period_us = std::strtod(period.c_str(), nullptr);
  if (!(quota_us > 0) || !(period_us > 0)) return {};
  return quota_us / period_us;
}

std::optional<double> quota_of_folder(const std::string& folder) {
  const std::string both = first_line(folder + "/cpu.max");  // version 2: "50000 100000" or "max 100000"
  if (const std::size_t space = both.find(' '); space != std::string::npos) {
    return in_cores(both.substr(0, space), both.substr(space + 1));
  }
  return in_cores(first_line(folder + "/cpu.cfs_quota_us"), first_line(folder + "/cpu.cfs_period_us"));
}

void tighten(std::optional<double>& limit, std::optional<double> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

// A group and all that contain it, up to the mount. In a container the outer part of the path is not mounted; its folders are
// not found and say nothing, and the mount itself is the container's own group.
std::optional<double> quota_up_from(const std::string& mount, std::string group) {
  std::optional<double> limit;
  while (true) {
    tighten(limit, quota_of_folder(mount + group));
    if (group.empty()) return limit;
    group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

// "4:cpu,cpuacct:/a/b" controls processors in version 1; "0::/a/b" is version 2.
bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::optional<double> cpu_quota(const CgroupPaths& paths) {
  std::optional<double> limit;
  std::ifstream membership(paths.membership);
  for (std::string line; std::getline(membership, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::string group = path == "/" ? std::string() : path;
    if (controllers.empty()) {
      tighten(limit, quota_up_from(paths.root, group));
      tighten(limit, quota_up_from(paths.root + "/unified", group));  // beside version 1
    } else if (names_cpu(controllers)) {
      tighten(limit, quota_up_from(paths.root + "/" + controllers, group));
      tighten(limit, quota_up_from(paths.root + "/cpu", group));  // often a link to the former
    }
  }
  return limit;
}

int affine_processors() {
  // More processors than the fixed set can hold are answered with EINVAL; so ask with larger sets.
  for (int most = CPU_SETSIZE; most <= (1 << 16); most *= 4) {
    std::vector<cpu_set_t> set(static_cast<std::size_t>(most / CPU_SETSIZE));
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0) return std::max(CPU_COUNT_S(bytes, set.data()), 1);
  }
  return 1;
}

int usable_cores(const CgroupPaths& paths) {
  const int affine = affine_processors();
  const std::optional<double> quota = cpu_quota(paths);
  if (!quota || *quota >= affine) return affine;
  return std::max(static_cast<int>(std::ceil(*quota)), 1);
}

}  // namespace hcomm
