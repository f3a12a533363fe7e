// What the ranks of a communicator learn from each other when it is made: an allgather of a few words, after which
// every rank computes the same facts. It is also the proof that all ranks are there.

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "bootstrap/facts.h"
#include "comm/communicator.h"
#include "comm/stores.h"
#include "topology/cores.h"
#include "topology/host_identity.h"

namespace hcomm {
namespace {

inline constexpr std::size_t kMaskWords = 16;  // 1024 processors

struct Words {
  std::int64_t can_map = 0;
  std::int64_t store = 0;  // rank 0's counts
  std::int64_t quota = 0;  // whole cores that the cgroup allows; 0: no limit
  HostId machine{};        // whose cores it uses, whatever HCOMM_HOST_ID says
  std::array<std::uint64_t, kMaskWords> mask{};
};
static_assert(sizeof(Words) == (3 + kMaskWords) * sizeof(std::int64_t) + sizeof(HostId));
inline constexpr std::size_t kWords = sizeof(Words) / sizeof(std::int64_t);

std::array<std::uint64_t, kMaskWords> affinity_mask() {
  std::array<std::uint64_t, kMaskWords> mask{};
  cpu_set_t set;
  static_assert(sizeof set == sizeof mask);
  if (sched_getaffinity(0, sizeof set, &set) == 0) std::memcpy(mask.data(), &set, sizeof set);
  return mask;
}

// Cores that the ranks of a machine may use together.
int shared_cores(std::span<const Words> all, const HostId& machine) {
  std::array<std::uint64_t, kMaskWords> together{};
  std::int64_t quota = 0;
  for (const Words& each : all) {
    if (each.machine != machine) continue;
    for (std::size_t i = 0; i < kMaskWords; ++i) together[i] |= each.mask[i];
    if (each.quota > 0) quota = quota == 0 ? each.quota : std::min(quota, each.quota);
  }
  int cores = 0;
  for (const std::uint64_t word : together) cores += std::popcount(word);
  if (quota > 0 && quota < cores) cores = static_cast<int>(quota);
  return std::max(cores, 1);
}

}  // namespace

Status Communicator::begin_agreement() {
  if (ranks_ == 1) return {};
  Words own{.can_map = can_map_peers_ ? 1 : 0,
            .quota = static_cast<std::int64_t>(std::ceil(cpu_quota().value_or(0))),
            .machine = host_id(machine_identity()),
            .mask = affinity_mask()};
  if (rank_ == 0) own.store = static_cast<std::int64_t>(best_shared_store());
  agreement_.assign(kWords * static_cast<std::size_t>(ranks_), 0);
  std::int64_t* const part = agreement_.data() + kWords * static_cast<std::size_t>(rank_);
  std::memcpy(part, &own, sizeof own);
  queue({.collective = Collective::allgather, .send = part, .recv = agreement_.data(), .count = kWords, .dtype = hcommInt64});
  return {};
}

Status Communicator::finish_agreement() {
  if (ranks_ == 1) return {};
  std::vector<Words> all(static_cast<std::size_t>(ranks_));
  std::memcpy(static_cast<void*>(all.data()), agreement_.data(), all.size() * sizeof(Words));
  windows_agreed_ = std::ranges::all_of(all, [](const Words& each) { return each.can_map != 0; });
  const std::int64_t store = all.front().store;
  const Store way = store == 1 ? Store::non_temporal : store == 2 ? Store::rep_movsb : Store::regular;
  engine_.set_shared_store(way);
  set_shared_store(way);
  SharedFacts shared = cache_.facts();
  shared.cores = 0;
  std::set<HostId> machines;
  for (const Words& each : all) {
    if (machines.insert(each.machine).second) shared.cores += shared_cores(all, each.machine);
  }
  const HostId& own = all[static_cast<std::size_t>(rank_)].machine;
  const auto neighbours = std::ranges::count_if(all, [&](const Words& each) { return each.machine == own; });
  idle_policy_ = IdlePolicy::for_load(static_cast<int>(neighbours), shared_cores(all, own));
  cache_.learn(shared);
  engine_.forget_buffers();
  agreement_ = std::vector<std::int64_t>();
  watches_ = std::vector<Watch>();
  queued_ = std::vector<CollectiveCall>();
  sequence_ = 0;
  last_call_ = {};
  return {};
}

}  // namespace hcomm
