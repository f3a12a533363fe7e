#include "comm/stores.h"

#include <algorithm>
#include <atomic>

#include "topology/cores.h"
#include "topology/store_probe.h"

namespace hcomm {
namespace {

// The other kinds must be clearly faster, for readers on the same core prefer what is left in the cache.
constexpr double kClearly = 0.7;

Store measure() {
  const StoreProbe probe = probe_stores(usable_cores());
  if (!probe.measured) return Store::regular;
  const auto& costs = probe.costs;
  if (std::min(costs.non_temporal_ns, costs.rep_movsb_ns) > kClearly * costs.regular_ns) return Store::regular;
  return costs.non_temporal_ns <= costs.rep_movsb_ns ? Store::non_temporal : Store::rep_movsb;
}

std::atomic<Store> agreed_store{Store::regular};

// Shorter pieces, such as the frame of a message, are not worth a fence.
constexpr std::size_t kWorthIt = 1024;

}  // namespace

void set_shared_store(Store store) { agreed_store.store(store, std::memory_order_relaxed); }

void copy_shared(void* target, const void* source, std::size_t bytes) {
  copy_bytes(target, source, bytes, bytes < kWorthIt ? Store::regular : agreed_store.load(std::memory_order_relaxed));
}

Store best_shared_store() {
  static const Store best = measure();
  return best;
}

}  // namespace hcomm
