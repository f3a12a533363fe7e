#include "comm/stores.h"

#include <algorithm>

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

}  // namespace

Store best_shared_store() {
  static const Store best = measure();
  return best;
}

}  // namespace hcomm
