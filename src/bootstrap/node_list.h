// The hosts of a Slurm step, as SLURM_STEP_NODELIST names them: "node[01-03,07],gpu5".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hcomm {

inline constexpr std::size_t kMaxListedHosts = 4096;  // a job has no more ranks
inline constexpr std::size_t kMaxNodeListBytes = 65536;
inline constexpr std::size_t kMaxHostNameBytes = 255;

// In the list's order, with the zeros that numbers begin with ("01" to "03"). A name may hold several brackets; the last turns
// fastest. InvalidArgument that says what is wrong and where, also for more than kMaxListedHosts.
Result<std::vector<std::string>> expand_node_list(std::string_view text);

}  // namespace hcomm
