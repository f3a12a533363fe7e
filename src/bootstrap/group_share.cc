#include "bootstrap/group_share.h"

#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <string>

#include "bootstrap/coordinator.h"

namespace hcomm {
namespace {

constexpr TimeNs kTryAgainAfter = 20 * kMillisecond;

}  // namespace

JobId group_id(const JobId& job, std::uint64_t context, int leader) {
  const std::string which = std::to_string(context) + " " + std::to_string(leader);
  JobId id;
  const Secret name = derive(job.secret, "hcomm group " + which);
  std::copy_n(name.begin(), id.name.size(), id.name.begin());
  id.secret = derive(job.secret, "hcomm group secret " + which);
  return id;
}

Status GroupShare::serve(Attendant& attendant) {
  if (!options_.make_segment || !options_.keep) return Status::failure(hcommInternalError, "nobody makes a segment here");
  Result<int> made = options_.make_segment();
  if (!made.ok()) return std::move(made).status();
  Descriptor own(made.value());
  const auto for_others = std::make_shared<Descriptor>(fcntl(own.get(), F_DUPFD_CLOEXEC, 3));
  if (!for_others->open()) return Status::failure(hcommSystemError, "no free descriptor (raise the limit with ulimit -n)");
  const Route& route = attendant.route();
  const ConstBytes table = attendant.table();
  Result<std::unique_ptr<Coordinator>> started =
      start_coordinator(group_id(job_, attendant.context(), route.leader),
                        {.ranks = route.group - 1,
                         .make_segment = [for_others](int) -> Result<int> { return for_others->release(); },
                         .table = {table.begin(), table.end()}});
  if (!started.ok()) return std::move(started).status();
  options_.keep(std::move(started).value());
  attendant.share(std::move(own), {});
  return {};
}

void GroupShare::fetch(Attendant& attendant) {
  if (!fetching_.has_value()) {
    const Route& route = attendant.route();
    inner_ = {.rank = route.place - 1, .ranks = route.group - 1, .timeout_ns = options_.timeout_ns, .server = Absent::may_come};
    fetching_.emplace(network_, &network_, group_id(job_, attendant.context(), route.leader), inner_, options_.ranks);
  }
  fetching_->step();
  if (!fetching_->ended()) return;
  Result<Meeting> got = fetching_->take();
  const ConstBytes table = fetching_->table();
  if (got.ok()) return attendant.share(std::move(got.value().segment), {table.begin(), table.end()});
  // A leader that has died is named by the coordinator.
  if (got.status().code() == hcommRemoteError) again_at_ = add_saturated(network_.clock().now(), kTryAgainAfter);
  else attendant.cannot_share(got.status());
  fetching_.reset();
}

void GroupShare::step(Attendant& attendant) {
  if (again_at_ != kNever && network_.clock().now() < again_at_) return;
  again_at_ = kNever;
  if (!attendant.wants_share()) return;
  if (attendant.route().place != 0) return fetch(attendant);
  if (Status status = serve(attendant); !status.ok()) attendant.cannot_share(status);
}

}  // namespace hcomm
