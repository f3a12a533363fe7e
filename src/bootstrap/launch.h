// Who started this process, as which rank of how many, and where the ranks of the run meet.
//
// Several launchers may have left their variables, one inside the other: the innermost counts. Where the launchers are
// processes, the nearest one among the ancestors is the innermost; else the order of launchers() decides.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "bootstrap/job_id.h"
#include "bootstrap/reading.h"
#include "bootstrap/surroundings.h"

namespace hcomm {

struct Launch {
  int rank = 0;
  int ranks = 1;
  std::optional<int> local_rank;
  std::optional<int> local_ranks;
  std::string launcher;  // "Open MPI"
  std::string by;        // the variables that showed it
  JobId job;             // the same for all ranks of this run
  std::string named_by;  // what the job's id was made of
  bool serves = false;   // nobody serves the meeting but rank 0, and this is it
  bool one_host = true;  // all ranks are here: they meet at a Unix socket named by the job
  std::vector<std::string> rendezvous;  // of several hosts: where rank 0 listens, "host:port"
};

inline constexpr std::string_view kRankVariable = "HCOMM_RANK";
inline constexpr std::string_view kSizeVariable = "HCOMM_SIZE";
inline constexpr std::string_view kJobVariable = "HCOMM_JOB";
inline constexpr std::string_view kRendezvousVariable = "HCOMM_RENDEZVOUS";

struct Detection {
  std::vector<Reading> readings;     // of launchers(), in that order
  const Launcher* chosen = nullptr;  // null: none was found
  std::string why;                   // it is that one
  std::vector<std::string> remarks;  // what contradicts it, and why that does not count
  Result<Launch> launch;             // or what is missing, wrong or contradictory; never a silent job of one rank
};

Detection detect(const Surroundings& surroundings);
Detection detect();  // of this process

Result<Launch> detect_launch();

}  // namespace hcomm
