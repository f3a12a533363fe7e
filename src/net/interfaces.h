// The interfaces of this host, and at which of their addresses a rank is to be reached.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/knobs.h"
#include "base/parse_network.h"
#include "net/address.h"
#include "net/network.h"

namespace hcomm {

struct Interface {
  std::string name;
  bool up = true;
  std::vector<Address> addresses;  // without a port

  friend bool operator==(const Interface&, const Interface&) = default;
};

// In the system's order.
Result<std::vector<Interface>> read_interfaces();

// HCOMM_SOCKET_IFNAME as it stands, "" for all, and HCOMM_SOCKET_FAMILY.
struct InterfaceWish {
  std::string names;
  SocketFamily family = SocketFamily::both;
};

// All addresses that may be used, the best first; at least one. Those of ordinary interfaces come before those of docker*, veth*,
// virbr* and br-*, which other hosts have too, and these before those of lo; of one kind global ones before link-local ones
// before this host's own; IPv4 before IPv6; else in the order of the interfaces. A link-local IPv6 address is left out: which
// interface leads to it only the other host could know. When none is left the failure says what there is.
Result<std::vector<Address>> choose_addresses(std::span<const Interface> interfaces, const InterfaceWish& wish);

// "eth0 (10.0.0.1), eth1 (down), lo (127.0.0.1, ::1)"
std::string list_of(std::span<const Interface> interfaces);

// At the first port of the range that is free; at the address's own port if it has one.
Result<std::unique_ptr<Listener>> listen_in_range(Network& network, const Address& at, const PortRange& range, Watcher& watcher);

}  // namespace hcomm
