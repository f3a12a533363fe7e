#include "transport/bell_socket.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace hcomm {
namespace {

struct BellAddress {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

BellAddress address_of(BellName name) {
  BellAddress bell;
  bell.address.sun_family = AF_UNIX;
  const int letters = std::snprintf(bell.address.sun_path + 1, sizeof bell.address.sun_path - 1, "hcomm-bell-%016llx",
                                    static_cast<unsigned long long>(name));
  bell.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(letters));
  return bell;
}

int datagram_socket() { return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// One for the process, made with its first bell, so that ringing makes none.
int sender() {
  static const int socket = datagram_socket();
  return socket;
}

Status failed(const std::string& doing) {
  return Status::failure(hcommSystemError, doing + " a doorbell socket: " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<BellSocket>> BellSocket::open(KernelNetwork& network) {
  std::unique_ptr<BellSocket> bell(new BellSocket);
  bell->socket_ = datagram_socket();
  if (bell->socket_ < 0 || sender() < 0) return failed("making");
  while (bell->name_ == 0) {
    if (getrandom(&bell->name_, sizeof bell->name_, 0) != sizeof bell->name_ && errno != EINTR) {
      return failed("naming");
    }
  }
  const BellAddress at = address_of(bell->name_);
  if (bind(bell->socket_, reinterpret_cast<const sockaddr*>(&at.address), at.bytes) != 0) {
    return failed("naming");
  }
  Result<std::unique_ptr<Watch>> watch = network.watch(bell->socket_, *bell);
  if (!watch.ok()) return std::move(watch).status();
  bell->watch_ = std::move(watch).value();
  return bell;
}

BellSocket::~BellSocket() {
  watch_.reset();
  if (socket_ >= 0) close(socket_);
}

void BellSocket::ready() {
  char byte = 0;
  while (recv(socket_, &byte, 1, 0) >= 0 || errno == EINTR) {
  }
}

void ring_socket(BellName name) {
  const BellAddress to = address_of(name);
  static_cast<void>(sendto(sender(), "", 1, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to.address), to.bytes));
}

}  // namespace hcomm
