// TCP sockets as the system has them: addresses in its form, and options. Inner part of the kernel's network.
#pragma once

#include <sys/socket.h>

#include <string>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/status.h"
#include "net/address.h"

namespace hcomm {

struct SystemAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SystemAddress to_system(const Address& address);
Address address_of(const sockaddr* address);  // Family::none of what is no IP address

Address local_address(int socket);   // Family::none of a socket that has none
Address remote_address(int socket);  // Family::none of one that is not connected

// Close-on-exec, non-blocking.
Result<Descriptor> make_tcp_socket(Family family);

// Small messages leave at once, and of a silent connection the other end's host is asked whether it is there.
inline constexpr int kKeepaliveIdleSeconds = 10;
inline constexpr int kKeepaliveIntervalSeconds = 5;
inline constexpr int kKeepaliveProbes = 4;
void prepare_connection(const Descriptor& socket);

// Whether it has sent, again and again, for at least so long, and has heard nothing: not of the other end's program, which may
// take its time, but of its host.
bool is_unacknowledged(int socket, TimeNs silence);

Result<Descriptor> listen_on(const Address& address);

// "connection refused": the system's words, to stand in a sentence.
std::string words_of(int error);
Status refused_by_system(const std::string& what, int error);

}  // namespace hcomm
