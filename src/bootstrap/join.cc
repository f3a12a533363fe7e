#include "bootstrap/join.h"

#include <algorithm>

#include "bootstrap/attendant.h"
#include "bootstrap/group_share.h"
#include "net/kernel_network.h"

namespace hcomm {
namespace {

constexpr TimeNs kLongestSleep = kSecond;

Status check(const JoinOptions& options) {
  if (options.ranks < 1 || options.ranks > kMaxMeetingRanks) {
    return Status::failure(hcommInvalidArgument,
                           "size is " + std::to_string(options.ranks) + "; legal are 1 to " + std::to_string(kMaxMeetingRanks));
  }
  if (options.rank < 0 || options.rank >= options.ranks) {
    return Status::failure(hcommInvalidArgument, "rank is " + std::to_string(options.rank) + "; with size " +
                                                     std::to_string(options.ranks) + " legal are 0 to " +
                                                     std::to_string(options.ranks - 1));
  }
  if (options.agreement.size() > kMaxAgreementBytes) {
    return Status::failure(hcommInvalidArgument, "the settings that ranks must agree on have " +
                                                     std::to_string(options.agreement.size()) + " bytes; at most " +
                                                     std::to_string(kMaxAgreementBytes) + " are legal");
  }
  if (options.addresses.size() > kMaxMemberAddresses) {
    return Status::failure(hcommInvalidArgument, std::to_string(options.addresses.size()) + " addresses; at most " +
                                                     std::to_string(kMaxMemberAddresses) + " are legal");
  }
  return {};
}

}  // namespace

Result<Meeting> join(const JobId& id, const JoinOptions& options) {
  if (Status status = check(options); !status.ok()) return status;
  Result<std::unique_ptr<KernelNetwork>> opened = KernelNetwork::open();
  if (!opened.ok()) return std::move(opened).status();
  KernelNetwork& network = *opened.value();
  Attendant attendant(network, &network, id, options);
  GroupShare group(network, id, options);
  for (attendant.step(); !attendant.ended(); attendant.step()) {
    group.step(attendant);
    const TimeNs next = std::min(attendant.next_deadline(), group.next_deadline());
    network.wait(std::clamp<TimeNs>(next - network.clock().now(), 0, kLongestSleep));
    network.dispatch();
  }
  return attendant.take();
}

}  // namespace hcomm
