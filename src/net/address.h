// Where a listener is: an IP address and a port. A value; knows no names of hosts but through resolve().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"

namespace hcomm {

enum class Family : std::uint8_t { none = 0, inet = 4, inet6 = 6 };

struct Address {
  Family family = Family::none;
  std::uint16_t port = 0;
  std::uint32_t scope = 0;                // of a link-local IPv6 address: the interface, by its index on this host
  std::array<std::byte, 16> bytes{};      // network order; an IPv4 address has the first 4

  friend bool operator==(const Address&, const Address&) = default;
};

// "10.0.0.1:60000", "[fe80::1%eth0]:60000"
std::string text(const Address& address);
std::string number_text(const Address& address);  // without the port: "10.0.0.1", "fe80::1%eth0"

// 169.254.0.0/16 and fe80::/10: of one cable's meaning, and of no other's.
bool is_link_local(const Address& address);

// Of a number, not a name; the port is required, and so is the interface of a link-local IPv6 address. InvalidArgument with what
// is legal.
Result<Address> parse_address(std::string_view text);

// A name or a number and a port, "host:29500"; all addresses of it, best first. May block in the system's resolver.
Result<std::vector<Address>> resolve(std::string_view host_and_port);

// For the wire: 24 bytes, the same on all machines. The scope is this host's own business and not sent. Each address has one
// form, no address too (zeros); whatever else comes is hcommRemoteError.
inline constexpr std::size_t kAddressBytes = 24;
std::array<std::byte, kAddressBytes> to_bytes(const Address& address);
Result<Address> address_from_bytes(ConstBytes bytes);

}  // namespace hcomm
