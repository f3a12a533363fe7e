#include "net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/parse.h"
#include "net/sockets.h"

namespace hcomm {
namespace {

constexpr std::string_view kLegal =
    "legal is a number and a port, such as 10.0.0.1:60000, [fd00::1]:60000, or [fe80::1%eth0]:60000";
constexpr std::size_t kMostTextBytes = 300;  // a name of a host has 253 at most
constexpr std::size_t kMostAddresses = 16;   // of one name

constexpr std::size_t kPortAt = 2;
constexpr std::size_t kNumberAt = 8;

Status not_an_address(std::string_view text, std::string_view why) {
  const std::string shown(text.substr(0, 64));
  return Status::failure(hcommInvalidArgument, "'" + shown + "' is no address" + std::string(why) + "; " + std::string(kLegal));
}

// "host:port" or "[host]:port", parted; false when it is neither.
bool part(std::string_view text, std::string_view& host, std::uint16_t& port) {
  const std::size_t colon = text.rfind(':');
  if (text.size() > kMostTextBytes || colon == std::string_view::npos) return false;
  const std::string_view digits = text.substr(colon + 1);
  const Result<std::uint64_t> number = parse_count(digits);
  if (!number.ok() || digits.size() > 5 || number.value() > 0xffff) return false;
  port = static_cast<std::uint16_t>(number.value());
  host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return false;  // where an IPv6 number ends and its port begins cannot be told without the brackets
  }
  return !host.empty() && host.find('\0') == std::string_view::npos;
}

// An interface's index by its name or number; 0 when there is none.
std::uint32_t scope_of(std::string_view name) {
  const Result<std::uint64_t> number = parse_count(name);
  if (number.ok()) return number.value() <= 0xffffffffu ? static_cast<std::uint32_t>(number.value()) : 0;
  return if_nametoindex(std::string(name).c_str());
}

Result<Address> parse_inet6(std::string_view text, std::string_view host, std::uint16_t port) {
  Address address{.family = Family::inet6, .port = port};
  const std::size_t percent = host.find('%');
  const std::string number(host.substr(0, percent));
  if (inet_pton(AF_INET6, number.c_str(), address.bytes.data()) != 1) return not_an_address(text, "");
  if (percent != std::string_view::npos) {
    if (!is_link_local(address)) return not_an_address(text, ": only a link-local one has an interface");
    address.scope = scope_of(host.substr(percent + 1));
    if (address.scope == 0) return not_an_address(text, ": there is no interface of that name here");
  } else if (is_link_local(address)) {
    return not_an_address(text, ": a link-local one needs its interface");
  }
  return address;
}

Status not_found(std::string_view text, int error) {
  const bool temporary = error == EAI_AGAIN || error == EAI_SYSTEM || error == EAI_MEMORY;
  return Status::failure(temporary ? hcommSystemError : hcommInvalidArgument,
                         "no address of '" + std::string(text) + "' could be found: " + gai_strerror(error));
}

}  // namespace

std::string text(const Address& address) {
  const std::string number = number_text(address);
  switch (address.family) {
    case Family::none: return number;
    case Family::inet: return number + ":" + std::to_string(address.port);
    case Family::inet6: return "[" + number + "]:" + std::to_string(address.port);
  }
  unreachable();
}

std::string number_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> number{};
  switch (address.family) {
    case Family::none: return "no address";
    case Family::inet: return inet_ntop(AF_INET, address.bytes.data(), number.data(), number.size());
    case Family::inet6: break;
  }
  inet_ntop(AF_INET6, address.bytes.data(), number.data(), number.size());
  if (address.scope == 0) return number.data();
  std::array<char, IF_NAMESIZE> name{};
  const bool named = if_indextoname(address.scope, name.data()) != nullptr;
  return number.data() + ("%" + (named ? std::string(name.data()) : std::to_string(address.scope)));
}

bool is_link_local(const Address& address) {
  const auto first = std::to_integer<unsigned>(address.bytes[0]);
  const auto second = std::to_integer<unsigned>(address.bytes[1]);
  switch (address.family) {
    case Family::none: return false;
    case Family::inet: return first == 169 && second == 254;
    case Family::inet6: return first == 0xfe && (second & 0xc0) == 0x80;
  }
  unreachable();
}

Result<Address> parse_address(std::string_view text) {
  std::string_view host;
  std::uint16_t port = 0;
  if (!part(text, host, port)) return not_an_address(text, "");
  if (text.starts_with('[')) return parse_inet6(text, host, port);
  Address address{.family = Family::inet, .port = port};
  if (inet_pton(AF_INET, std::string(host).c_str(), address.bytes.data()) != 1) return not_an_address(text, "");
  return address;
}

Result<std::vector<Address>> resolve(std::string_view host_and_port) {
  std::string_view host;
  std::uint16_t port = 0;
  if (!part(host_and_port, host, port)) {
    return Status::failure(hcommInvalidArgument, "'" + std::string(host_and_port.substr(0, 64)) +
                                                     "' is no host and port; legal is such as node7:29500, 10.0.0.1:29500, "
                                                     "or [fd00::1]:29500");
  }
  addrinfo wish{};
  wish.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(std::string(host).c_str(), nullptr, &wish, &found);
  if (error != 0) return not_found(host_and_port, error);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr && addresses.size() < kMostAddresses; one = one->ai_next) {
    Address address = address_of(one->ai_addr);
    address.port = port;
    const bool known = std::ranges::find(addresses, address) != addresses.end();
    if (address.family != Family::none && !known) addresses.push_back(address);
  }
  freeaddrinfo(found);
  if (addresses.empty()) return not_found(host_and_port, EAI_NONAME);
  return addresses;
}

std::array<std::byte, kAddressBytes> to_bytes(const Address& address) {
  std::array<std::byte, kAddressBytes> bytes{};
  bytes[0] = static_cast<std::byte>(address.family);
  bytes[kPortAt] = static_cast<std::byte>(address.port & 0xff);
  bytes[kPortAt + 1] = static_cast<std::byte>(address.port >> 8);
  std::ranges::copy(address.bytes, bytes.begin() + kNumberAt);
  return bytes;
}

Result<Address> address_from_bytes(ConstBytes bytes) {
  if (bytes.size() != kAddressBytes) return Status::failure(hcommRemoteError, "an address has a wrong size");
  Address address;
  address.family = static_cast<Family>(bytes[0]);
  address.port = static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[kPortAt]) |
                                            std::to_integer<unsigned>(bytes[kPortAt + 1]) << 8);
  std::ranges::copy(bytes.subspan(kNumberAt), address.bytes.begin());
  // What is not used must be zero: there is one form of each address. Of no address that is everything.
  std::size_t used = 0;
  switch (address.family) {
    case Family::none: used = 0; break;
    case Family::inet: used = 4; break;
    case Family::inet6: used = 16; break;
  }
  const bool known = bytes[0] == std::byte{0} || bytes[0] == std::byte{4} || bytes[0] == std::byte{6};
  const auto is_zero = [](std::byte value) { return value == std::byte{0}; };
  const bool rest_is_zero = std::ranges::all_of(bytes.subspan(kNumberAt + used), is_zero) && is_zero(bytes[1]) &&
                            std::ranges::all_of(bytes.subspan(4, 4), is_zero) &&
                            (address.family != Family::none || address.port == 0);
  if (!known || !rest_is_zero) return Status::failure(hcommRemoteError, "an address is malformed");
  return address;
}

}  // namespace hcomm
