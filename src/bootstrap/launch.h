// What the launcher tells a rank: HCOMM_RANK, HCOMM_SIZE and HCOMM_JOB.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "bootstrap/job_id.h"

namespace hcomm {

struct Launch {
  int rank = 0;
  int ranks = 1;
  JobId job;
};

inline constexpr std::string_view kRankVariable = "HCOMM_RANK";
inline constexpr std::string_view kSizeVariable = "HCOMM_SIZE";
inline constexpr std::string_view kJobVariable = "HCOMM_JOB";

using Variables = std::function<std::optional<std::string>(std::string_view name)>;

// All three or an error that names what is missing, wrong or contradictory; never a silent job of one rank.
Result<Launch> detect_launch(const Variables& variables);
Result<Launch> detect_launch();  // of this process's environment

}  // namespace hcomm
