// How this machine best stores what another core reads next.
#pragma once

#include "kernels/combine.h"

namespace hcomm {

// Measured once in a process, in a few milliseconds; then remembered. Any thread.
Store best_shared_store();

}  // namespace hcomm
