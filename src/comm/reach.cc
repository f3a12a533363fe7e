#include "comm/reach.h"

#include <algorithm>
#include <string>

namespace hcomm {
namespace {

std::string other_hosts(const Ways& ways, int rank) {
  std::string others;
  for (int peer = 0; peer < ways.ranks && others.size() < 100; ++peer) {
    if (ways.layout.host(peer) == ways.layout.host(rank)) continue;
    others += (others.empty() ? "" : ", ") + std::to_string(peer);
  }
  return others;
}

}  // namespace

Ways ways_of(const Meeting& meeting, bool shares_memory) {
  Ways ways{.ranks = static_cast<int>(meeting.members.size()), .layout = {}, .shares_memory = shares_memory};
  std::vector<HostId> hosts;
  for (const Member& member : meeting.members) {
    const auto found = std::ranges::find(hosts, member.facts.host);
    ways.layout.host_of.push_back(static_cast<int>(found - hosts.begin()));
    if (found == hosts.end()) hosts.push_back(member.facts.host);
  }
  return ways;
}

Result<OpenHub> hub_for(const Appointment& appointment, std::string_view transport, const Settings& settings) {
  const bool may_leave = transport == "tcp" || !settings.host_id.empty() || !appointment.job.at.empty();
  if (!may_leave || !allows_transport(settings, "tcp")) return OpenHub{};
  return open_hub(appointment.job, appointment.rank, appointment.ranks, settings);
}

Status reach_others(const OpenHub& hub, const Meeting& meeting, const Ways& ways, int rank) {
  if (hub.hub == nullptr) {
    return Status::failure(hcommInvalidUsage, "ranks " + other_hosts(ways, rank) +
                                                  " are on other hosts (or have another HCOMM_HOST_ID) than rank " +
                                                  std::to_string(rank) +
                                                  "; let HCOMM_TRANSPORT allow tcp, and set HCOMM_HOST_ID on all ranks or "
                                                  "on none");
  }
  std::vector<std::vector<Address>> all;
  for (const Member& member : meeting.members) all.push_back(member.facts.addresses);
  hub.hub->set_peers(std::move(all));
  return {};
}

}  // namespace hcomm
