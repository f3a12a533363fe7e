#include "comm/core_use.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "topology/cores.h"
#include "topology/host_identity.h"

namespace hcomm {
namespace {

int cores_of(std::span<const CoreUse> ranks, const HostId& machine) {
  decltype(CoreUse::mask) together{};
  std::uint32_t quota = 0;
  for (const CoreUse& each : ranks) {
    if (each.machine != machine) continue;
    for (std::size_t i = 0; i < together.size(); ++i) together[i] |= each.mask[i];
    if (each.quota > 0) quota = quota == 0 ? each.quota : std::min(quota, each.quota);
  }
  int cores = 0;
  for (const std::uint64_t word : together) cores += std::popcount(word);
  if (quota > 0 && quota < static_cast<std::uint32_t>(cores)) cores = static_cast<int>(quota);
  return std::max(cores, 1);
}

}  // namespace

CoreUse own_core_use() {
  CoreUse own{.machine = host_id(machine_identity()), .quota = static_cast<std::uint32_t>(std::ceil(cpu_quota().value_or(0)))};
  cpu_set_t set;
  static_assert(sizeof set == sizeof own.mask);
  if (sched_getaffinity(0, sizeof set, &set) == 0) std::memcpy(own.mask.data(), &set, sizeof set);
  return own;
}

CoreCount count_cores(std::span<const CoreUse> ranks, int rank) {
  const HostId& own = ranks[static_cast<std::size_t>(rank)].machine;
  CoreCount count{.all = 0, .here = cores_of(ranks, own), .neighbours_here = 0};
  std::set<HostId> machines;
  for (const CoreUse& each : ranks) {
    if (machines.insert(each.machine).second) count.all += cores_of(ranks, each.machine);
    if (each.machine == own) ++count.neighbours_here;
  }
  return count;
}

}  // namespace hcomm
