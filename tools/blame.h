// Whose death the ranks of a job give as the reason why their communicators ended, as their shared memory says it. A process that
// is large takes long to end, so its peers may have failed and be gone before the kernel tells that it has ended at all.
#pragma once

#include <vector>

#include "base/knobs.h"

namespace hcomm {

// Ranks, in the order of the communicators that name them; at most the first 64 communicators are looked at. The segment is
// borrowed, and is one that comm's make_segment made for these settings.
std::vector<int> blamed_ranks(int segment_fd, int ranks, const Settings& settings);

}  // namespace hcomm
