#include "net/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>

#include "net/sockets.h"

namespace hcomm {
namespace {

// Bridges and ends of virtual cables that many hosts have, with the same addresses.
constexpr std::array<std::string_view, 4> kVirtual = {"docker", "veth", "virbr", "br-"};

bool is_loopback(const Address& address) {
  switch (address.family) {
    case Family::none: return false;
    case Family::inet: return address.bytes[0] == std::byte{127};
    case Family::inet6: break;
  }
  std::array<std::byte, 16> one{};
  one[15] = std::byte{1};
  return address.bytes == one;
}

int kind_of(const Interface& interface) {
  if (interface.name == "lo") return 2;
  return std::ranges::any_of(kVirtual, [&](std::string_view start) { return interface.name.starts_with(start); }) ? 1 : 0;
}

int reach_of(const Address& address) { return is_loopback(address) ? 2 : (is_link_local(address) ? 1 : 0); }

bool is_wanted(const Address& address, SocketFamily family) {
  if (address.family == Family::inet6 && is_link_local(address)) return false;
  switch (family) {
    case SocketFamily::both: return true;
    case SocketFamily::inet: return address.family == Family::inet;
    case SocketFamily::inet6: return address.family == Family::inet6;
  }
  unreachable();
}

Status nothing_left(std::span<const Interface> interfaces, const InterfaceWish& wish) {
  std::string why;
  if (!wish.names.empty()) why += "HCOMM_SOCKET_IFNAME=" + wish.names;
  if (wish.family != SocketFamily::both) {
    why += (why.empty() ? "" : " with ") + ("HCOMM_SOCKET_FAMILY=" + std::string(name(wish.family)));
  }
  const std::string there_are = " an address that could be used; there are: " + list_of(interfaces);
  if (why.empty()) return Status::failure(hcommSystemError, "no interface has" + there_are);
  return Status::failure(hcommInvalidArgument, why + " leaves no interface with" + there_are);
}

}  // namespace

Result<std::vector<Interface>> read_interfaces() {
  ifaddrs* entries = nullptr;
  if (getifaddrs(&entries) != 0) return refused_by_system("cannot list the interfaces of this host", errno);
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = entries; entry != nullptr; entry = entry->ifa_next) {
    auto known = std::ranges::find(interfaces, entry->ifa_name, &Interface::name);
    if (known == interfaces.end()) {
      interfaces.push_back({entry->ifa_name, (entry->ifa_flags & IFF_UP) != 0, {}});
      known = std::prev(interfaces.end());
    }
    const Address address = entry->ifa_addr == nullptr ? Address{} : address_of(entry->ifa_addr);
    if (address.family != Family::none) known->addresses.push_back(address);
  }
  freeifaddrs(entries);
  return interfaces;
}

Result<std::vector<Address>> choose_addresses(std::span<const Interface> interfaces, const InterfaceWish& wish) {
  NameFilter filter;
  if (!wish.names.empty()) {
    Result<NameFilter> parsed = parse_name_filter(wish.names);
    if (!parsed.ok()) return std::move(parsed).status().during("reading HCOMM_SOCKET_IFNAME");
    filter = std::move(parsed).value();
  }
  struct Candidate {
    int kind;
    Address address;
  };
  std::vector<Candidate> candidates;
  for (const Interface& interface : interfaces) {
    if (!interface.up || !filter.wants(interface.name)) continue;
    for (const Address& address : interface.addresses) {
      if (is_wanted(address, wish.family)) candidates.push_back({kind_of(interface), address});
    }
  }
  if (candidates.empty()) return nothing_left(interfaces, wish);
  const auto place = [](const Candidate& one) { return std::tuple(one.kind, reach_of(one.address), one.address.family); };
  std::ranges::stable_sort(candidates, {}, place);
  std::vector<Address> addresses;
  for (const Candidate& candidate : candidates) addresses.push_back(candidate.address);
  return addresses;
}

std::string list_of(std::span<const Interface> interfaces) {
  std::string list;
  for (const Interface& interface : interfaces) {
    std::string about;
    for (const Address& address : interface.addresses) about += (about.empty() ? "" : ", ") + number_text(address);
    if (about.empty()) about = "no address";
    if (!interface.up) about = "down";
    list += (list.empty() ? "" : ", ") + interface.name + " (" + about + ")";
  }
  return list.empty() ? "none" : list;
}

Result<std::unique_ptr<Listener>> listen_in_range(Network& network, const Address& at, const PortRange& range, Watcher& watcher) {
  if (at.port != 0 || range.automatic()) return network.listen(at, watcher);
  std::string last_reason;
  for (std::uint32_t port = range.first; port <= range.last; ++port) {
    Address address = at;
    address.port = static_cast<std::uint16_t>(port);
    Result<std::unique_ptr<Listener>> listener = network.listen(address, watcher);
    if (listener.ok()) return listener;
    last_reason = listener.status().trail();
  }
  return Status::failure(hcommSystemError, "no port of HCOMM_PORT_RANGE=" + text(range) + " can be had at " + number_text(at) +
                                               ": set a wider range, or auto; the last one said: " + last_reason);
}

}  // namespace hcomm
