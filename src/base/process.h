// Whether this process is still the one that made something: the child of a fork owns nothing.
#pragma once

#include <cstdint>

namespace hcomm {

// Changes in the child of each fork (from the first call on). One load.
std::uint32_t fork_generation();

}  // namespace hcomm
