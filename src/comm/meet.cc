#include "comm/meet.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "bootstrap/secret_file.h"
#include "comm/coordinators.h"
#include "comm/core_use.h"
#include "comm/stores.h"
#include "net/interfaces.h"
#include "net/mac.h"
#include "topology/host_identity.h"

namespace hcomm {
namespace {

bool is_loopback(const Address& address) {
  Address inet6{.family = Family::inet6};
  inet6.bytes.back() = std::byte{1};
  return address.family == Family::inet ? address.bytes.front() == std::byte{127} : address.bytes == inet6.bytes;
}

bool is_usual_loopback(const Address& address) {
  const bool inet = address.family == Family::inet;
  return is_loopback(address) && (!inet || (address.bytes[1] == std::byte{} && address.bytes[2] == std::byte{} &&
                                            address.bytes[3] == std::byte{1}));
}

}  // namespace

HostId host_of(const Settings& settings) {
  return host_id(settings.host_id.empty() ? host_identity() : "told:" + settings.host_id);
}

Result<std::vector<Address>> places_to_listen(const Settings& settings, std::size_t most) {
  Result<std::vector<Interface>> interfaces = read_interfaces();
  if (!interfaces.ok()) return std::move(interfaces).status();
  Result<std::vector<Address>> chosen =
      choose_addresses(interfaces.value(), {.names = settings.socket_ifname, .family = settings.socket_family});
  if (!chosen.ok()) return std::move(chosen).status();
  std::vector<Address> places = std::move(chosen).value();
  if (!std::ranges::all_of(places, is_loopback)) std::erase_if(places, is_loopback);
  if (places.size() > most) places.resize(most);
  return places;
}

Result<std::vector<Address>> places_of(const std::vector<Address>& dialled, const Settings& settings) {
  Result<std::vector<Interface>> interfaces = read_interfaces();
  if (!interfaces.ok()) return std::move(interfaces).status();
  const auto is_here = [&](const Address& address) {
    return std::ranges::any_of(interfaces.value(), [&](const Interface& each) {
      return std::ranges::any_of(each.addresses, [&](const Address& own) {
        return own.family == address.family && own.bytes == address.bytes;
      });
    });
  };
  std::vector<Address> places;
  for (const Address& address : dialled) {
    if (is_usual_loopback(address) || (is_here(address) && !is_loopback(address))) places.push_back(address);
  }
  if (!places.empty()) return places;
  Result<std::vector<Address>> others = places_to_listen(settings, kMaxMemberAddresses);
  if (!others.ok()) return std::move(others).status();
  for (Address& address : others.value()) address.port = dialled.front().port;
  return others;
}

Result<JobId> id_between_hosts(const Launch& launch, const Settings& settings) {
  JobId id = launch.job;
  if (!settings.secret_file.empty()) {
    Result<Secret> secret = read_secret_file(settings.secret_file);
    if (!secret.ok()) return std::move(secret).status().during("reading HCOMM_SECRET_FILE");
    id.secret = code_of(secret.value(), {as_bytes("hcomm run"), id.secret});
  } else if (!settings.trusted_net) {
    return Status::failure(hcommInvalidUsage,
                           "the ranks are on several hosts, and nothing keeps strangers out of their connections: set "
                           "HCOMM_SECRET_FILE to a file with the same secret on all hosts (at least 16 bytes, mode 0600) or, "
                           "where nobody else can reach this network, HCOMM_TRUSTED_NET=1");
  }
  for (const std::string& place : launch.rendezvous) {
    Result<std::vector<Address>> found = resolve(place);
    if (!found.ok()) return std::move(found).status().during("looking up rank 0's place, " + place);
    for (const Address& address : found.value()) {
      if (id.at.size() < kMaxJobAddresses) id.at.push_back(address);
    }
  }
  return id;
}

Result<Meeting> meet(const Appointment& appointment, const KnobReading& knobs) {
  const Settings& settings = knobs.settings;
  JoinOptions options{.rank = appointment.rank,
                      .ranks = appointment.ranks,
                      .round = appointment.round,
                      .timeout_ns = settings.connect_timeout_ns,
                      .agreement = agreement_text(knobs),
                      .host = host_of(settings),
                      .host_is_told = !settings.host_id.empty(),
                      .addresses = appointment.addresses,
                      .cores = own_core_use(),
                      .store = appointment.rank == 0 ? static_cast<std::uint8_t>(best_shared_store()) : std::uint8_t{0},
                      .progress = [](std::string_view line) { log(LogLevel::warn, "bootstrap", line); },
                      .server = appointment.server};
  if (!appointment.job.at.empty()) {
    Result<std::vector<Address>> places = places_to_listen(settings, kMaxMemberAddresses);
    if (!places.ok()) return std::move(places).status();
    options.listen_at = std::move(places).value();
    options.ports = settings.port_range;
    options.make_segment = [&] {
      return segment_of_host(appointment.job, appointment.ranks, settings, appointment.many_rounds);
    };
    options.keep = keep_serving;
  }
  return join(appointment.job, options);
}

}  // namespace hcomm
