#include "net/sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

namespace hcomm {
namespace {

constexpr int kBacklog = 4096;  // the kernel cuts it to net.core.somaxconn

void set_option(const Descriptor& socket, int level, int option, int value) {
  // Each of them makes a connection better and none makes it right, so a system that lacks one may.
  static_cast<void>(setsockopt(socket.get(), level, option, &value, sizeof value));
}

using NameCall = int (*)(int, sockaddr*, socklen_t*);

Address name_of(int socket, NameCall call) {
  SystemAddress name;
  name.bytes = sizeof name.storage;
  return call(socket, name.get(), &name.bytes) == 0 ? address_of(name.get()) : Address{};
}

std::string_view cure_of(int error) {
  switch (error) {
    case EMFILE: return " (raise the limit with ulimit -n)";
    case EADDRINUSE: return " (another process has this port: choose another one, or 0; or all local ports are in use)";
    case EADDRNOTAVAIL: return " (no interface of this host has that address, or all local ports are in use)";
    case EACCES: return " (ports below 1024 need a privilege)";
  }
  return "";
}

// errno says why not.
Result<Descriptor> listen_at(const Address& address) {
  Result<Descriptor> made = make_tcp_socket(address.family);
  if (!made.ok()) return std::move(made).status();
  const Descriptor& socket = made.value();
  if (address.family == Family::inet6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  const SystemAddress system = to_system(address);
  if (bind(socket.get(), system.get(), system.bytes) == 0 && listen(socket.get(), kBacklog) == 0) return made;
  const int error = errno;
  Status refused = refused_by_system("cannot listen at " + text(address), error);
  made = Descriptor();
  errno = error;
  return refused;
}

// Those that the system gives out, of either family; none where it does not say.
std::pair<int, int> local_ports() {
  std::pair<int, int> ports{1, 0};
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  if (!(file >> ports.first >> ports.second) || ports.first < 1 || ports.second > UINT16_MAX) return {1, 0};
  return ports;
}

}  // namespace

SystemAddress to_system(const Address& address) {
  SystemAddress system;
  switch (address.family) {
    case Family::none: break;
    case Family::inet: {
      sockaddr_in in{};
      in.sin_family = AF_INET;
      in.sin_port = htons(address.port);
      std::memcpy(&in.sin_addr, address.bytes.data(), sizeof in.sin_addr);
      std::memcpy(&system.storage, &in, sizeof in);
      system.bytes = sizeof in;
      break;
    }
    case Family::inet6: {
      sockaddr_in6 in{};
      in.sin6_family = AF_INET6;
      in.sin6_port = htons(address.port);
      in.sin6_scope_id = address.scope;
      std::memcpy(&in.sin6_addr, address.bytes.data(), sizeof in.sin6_addr);
      std::memcpy(&system.storage, &in, sizeof in);
      system.bytes = sizeof in;
      break;
    }
  }
  return system;
}

Address address_of(const sockaddr* system) {
  Address address;
  if (system->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, system, sizeof in);
    address.family = Family::inet;
    address.port = ntohs(in.sin_port);
    std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
  } else if (system->sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, system, sizeof in);
    address.family = Family::inet6;
    address.port = ntohs(in.sin6_port);
    address.scope = in.sin6_scope_id;
    std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  }
  return address;
}

Address local_address(int socket) { return name_of(socket, getsockname); }

Address remote_address(int socket) { return name_of(socket, getpeername); }

Result<Descriptor> make_tcp_socket(Family family) {
  const int domain = family == Family::inet6 ? AF_INET6 : AF_INET;
  Descriptor made(socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.open()) return refused_by_system("cannot make a TCP socket", errno);
  // An earlier connection that lingers does not keep its port from who listens there, if both have said so.
  set_option(made, SOL_SOCKET, SO_REUSEADDR, 1);
  return made;
}

void prepare_connection(const Descriptor& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kKeepaliveIdleSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kKeepaliveIntervalSeconds);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kKeepaliveProbes);
}

bool is_unacknowledged(int socket, TimeNs silence) {
  constexpr unsigned kMostUnanswered = 3;
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return false;
  const bool asks_in_vain = info.tcpi_retransmits >= kMostUnanswered || info.tcpi_probes >= kMostUnanswered;
  return asks_in_vain && info.tcpi_state != TCP_SYN_SENT && TimeNs{info.tcpi_last_ack_recv} * kMillisecond >= silence;
}

Result<Descriptor> listen_on(const Address& address) {
  Result<Descriptor> listener = listen_at(address);
  if (listener.ok() || address.port != 0 || errno != EADDRINUSE) return listener;
  // The system gives out no port at which an earlier connection lingers, though one may listen there.
  const auto [first, last] = local_ports();
  Address place = address;
  for (int port = first; port <= last; ++port) {
    place.port = static_cast<std::uint16_t>(port);
    Result<Descriptor> found = listen_at(place);
    if (found.ok()) return found;
  }
  return listener;
}

std::string words_of(int error) {
  std::string words = std::strerror(error);
  if (!words.empty()) words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  return words;
}

Status refused_by_system(const std::string& what, int error) {
  const hcommResult_t code = error == ENOMEM || error == ENOBUFS ? hcommOutOfMemory : hcommSystemError;
  return Status::failure(code, what + ": " + words_of(error) + std::string(cure_of(error)));
}

}  // namespace hcomm
