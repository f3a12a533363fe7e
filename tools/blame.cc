#include "blame.h"

#include "comm/open.h"
#include "transport/segment.h"

namespace hcomm {

std::vector<int> blamed_ranks(int segment_fd, int ranks, const Settings& settings) {
  constexpr int looked_at = 64;
  std::vector<int> blamed;
  const Result<Sizes> sizes = choose_sizes(ranks, settings);
  if (!sizes.ok()) return blamed;
  const Geometry geometry{.ranks = ranks,
                          .slots = sizes.value().slots,
                          .slot_bytes = sizes.value().slot_bytes,
                          .ring_bytes = sizes.value().ring_bytes};
  for (int context = 0; context < looked_at; ++context) {
    const Result<Context> mapped = Context::map(segment_fd, context, geometry);
    if (!mapped.ok()) break;
    const std::optional<Verdict> verdict = mapped.value().board().verdict();
    if (verdict && verdict->reason == Reason::died && verdict->culprit >= 0) blamed.push_back(verdict->culprit);
  }
  return blamed;
}

}  // namespace hcomm
