// How this machine best stores what another core reads next.
#pragma once

#include <cstddef>

#include "kernels/combine.h"

namespace hcomm {

// Measured once in a process, in a few milliseconds; then remembered. Any thread.
Store best_shared_store();

// The way that the ranks of this process's latest communicator agreed on; regular until then. For copies into what peers
// read, where nobody can pass the way along: a transport's copy_out.
void set_shared_store(Store store);
void copy_shared(void* target, const void* source, std::size_t bytes);

}  // namespace hcomm
