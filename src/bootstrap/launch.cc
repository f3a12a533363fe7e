#include "bootstrap/launch.h"

#include <array>
#include <charconv>

#include "base/knobs.h"
#include "bootstrap/message.h"

namespace hcomm {
namespace {

constexpr std::string_view kHowToStart = "start the program with: hcomm run -n 4 -- PROGRAM";

Status not_launched(std::string_view what) {
  return Status::failure(hcommInvalidUsage, std::string(what) + "; " + std::string(kHowToStart));
}

// What other launchers set, by a variable of theirs: this version cannot use them, but it can say so.
struct OtherLauncher {
  std::string_view variable;
  std::string_view name;
};
constexpr std::array kOtherLaunchers = {
    OtherLauncher{"TORCHELASTIC_RUN_ID", "torchrun"}, OtherLauncher{"OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"},
    OtherLauncher{"PMIX_RANK", "a PMIx launcher"},    OtherLauncher{"PMI_RANK", "MPICH's mpiexec"},
    OtherLauncher{"SLURM_PROCID", "srun"},            OtherLauncher{"WORLD_SIZE", "a launcher that sets WORLD_SIZE"},
};

Status no_launcher(const Variables& variables) {
  for (const OtherLauncher& other : kOtherLaunchers) {
    if (!variables(other.variable).has_value()) continue;
    return not_launched("HCOMM_RANK, HCOMM_SIZE and HCOMM_JOB are not set; this process seems to be started by " +
                        std::string(other.name) + " (" + std::string(other.variable) +
                        " is set), which this version does not read");
  }
  return not_launched("HCOMM_RANK, HCOMM_SIZE and HCOMM_JOB are not set, so there is no job to join");
}

Result<int> parse_number(std::string_view name, const std::string& text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most) return number;
  return Status::failure(hcommInvalidArgument, std::string(name) + " is '" + printable(text) + "'; legal are " +
                                                   std::to_string(least) + " to " + std::to_string(most) +
                                                   " (hcomm run sets it; do not set it by hand)");
}

}  // namespace

Result<Launch> detect_launch(const Variables& variables) {
  const std::array names = {kRankVariable, kSizeVariable, kJobVariable};
  std::array<std::string, 3> values;
  std::string present;
  std::string missing;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::optional<std::string> value = variables(names[i]);
    std::string& list = value.has_value() && !value->empty() ? present : missing;
    list += (list.empty() ? "" : ", ") + std::string(names[i]);
    values[i] = value.value_or("");
  }
  if (present.empty()) return no_launcher(variables);
  if (!missing.empty()) return not_launched(present + " is set, but " + missing + " is not or is empty");
  Result<int> ranks = parse_number(kSizeVariable, values[1], 1, kMaxMeetingRanks);
  if (!ranks.ok()) return std::move(ranks).status();
  Result<int> rank = parse_number(kRankVariable, values[0], 0, kMaxMeetingRanks - 1);
  if (!rank.ok()) return std::move(rank).status();
  if (rank.value() >= ranks.value()) {
    return Status::failure(hcommInvalidArgument, "HCOMM_RANK is " + values[0] + " and HCOMM_SIZE is " + values[1] +
                                                     ", which contradict each other: ranks are 0 to HCOMM_SIZE - 1");
  }
  Result<JobId> job = job_id_from_hex(values[2]);
  if (!job.ok()) return std::move(job).status().during("reading HCOMM_JOB");
  return Launch{rank.value(), ranks.value(), job.value()};
}

Result<Launch> detect_launch() { return detect_launch(launch_variable); }

}  // namespace hcomm
