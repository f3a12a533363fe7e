#include "net/kernel_stream.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/sockets.h"

namespace hcomm {
namespace {

constexpr TimeNs kRest = 20 * kMillisecond;  // of a listener that has no descriptor or memory for the next connection
constexpr int kMostLostConnections = 64;     // that went before they were accepted, in one call

using Vector = std::array<iovec, Stream::kMostParts>;

// The parts as the system wants them, up to the most that it takes.
template <class Part>
msghdr message_of(std::span<const Part> parts, Vector& vector) {
  const std::size_t count = std::min(parts.size(), vector.size());
  for (std::size_t i = 0; i < count; ++i) {
    vector[i].iov_base = const_cast<std::byte*>(parts[i].data());
    vector[i].iov_len = parts[i].size();
  }
  msghdr message{};
  message.msg_iov = vector.data();
  message.msg_iovlen = count;
  return message;
}

int pending_error(int descriptor) {
  int error = 0;
  socklen_t bytes = sizeof error;
  return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

// Of the next connection, not of the listener; accept(2) has the list.
bool is_lost_connection(int error) {
  constexpr std::array<int, 10> kLost = {EINTR,      ECONNABORTED, EPROTO,     ENETDOWN,   ENOPROTOOPT,
                                         EHOSTDOWN,  ENONET,       EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH};
  return std::ranges::find(kLost, error) != kLost.end();
}

}  // namespace

// Only a connection that was made can be reset. One to oneself arises when a port that nobody listens at is also the one that the
// system chose for this end.
void KernelStream::look_whether_made() const {
  const int descriptor = table_.descriptor(id_);
  error_ = descriptor < 0 ? ENOTCONN : pending_error(descriptor);
  if (error_ == ECONNRESET) connected_ = true;
  if (error_ != 0) return;
  const Address other_end = remote_address(descriptor);
  if (other_end.family == Family::none) return;
  connected_ = other_end != local_address(descriptor);
  if (!connected_) error_ = ECONNREFUSED;
}

bool KernelStream::connected() const {
  if (!connected_ && error_ == 0) look_whether_made();
  return connected_;
}

IoResult KernelStream::moved_or_failed(ssize_t moved) {
  if (moved > 0) return {Io::moved, static_cast<std::size_t>(moved)};
  if (errno == EAGAIN && !table_.lost(id_)) return {Io::later, 0};
  error_ = errno == EAGAIN ? ETIMEDOUT : errno;
  return {Io::failed, 0};
}

IoResult KernelStream::read(std::span<const Bytes> parts) {
  if (!connected() || error_ != 0) return {error_ != 0 ? Io::failed : Io::later, 0};
  Vector vector;
  msghdr message = message_of(parts, vector);
  ssize_t got = 0;
  do {
    got = recvmsg(table_.descriptor(id_), &message, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return got == 0 ? IoResult{Io::end, 0} : moved_or_failed(got);
}

IoResult KernelStream::write(std::span<const ConstBytes> parts) {
  if (!connected() || error_ != 0) return {error_ != 0 ? Io::failed : Io::later, 0};
  Vector vector;
  const msghdr message = message_of(parts, vector);
  ssize_t put = 0;
  do {
    put = sendmsg(table_.descriptor(id_), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (put < 0 && errno == EINTR);
  return moved_or_failed(put);
}

std::size_t KernelStream::unsent() const {
  int bytes = 0;
  const bool known = error_ == 0 && ioctl(table_.descriptor(id_), SIOCOUTQ, &bytes) == 0;
  return known && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::string KernelStream::failure() const { return error_ == 0 ? "" : words_of(error_); }

bool KernelStream::refused() const { return error_ == ECONNREFUSED || error_ == ECONNRESET || error_ == EPIPE; }

std::unique_ptr<Stream> KernelListener::accept(Watcher& watcher) {
  for (int lost = 0; lost < kMostLostConnections; ++lost) {
    const int listener = table_.descriptor(id_);
    if (listener < 0) return nullptr;
    SystemAddress peer;
    peer.bytes = sizeof peer.storage;
    Descriptor made(accept4(listener, peer.get(), &peer.bytes, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!made.open() && errno == EAGAIN) return nullptr;
    if (!made.open() && is_lost_connection(errno)) continue;
    if (!made.open()) break;
    prepare_connection(made);
    Result<WatchTable::Id> id = table_.add(std::move(made), watcher);
    if (!id.ok()) break;
    return std::make_unique<KernelStream>(table_, id.value(), address_of(peer.get()), true, 0);
  }
  // The system tells each connection once, so the rest of them would never be asked for.
  table_.tell_at(id_, MonotonicClock().now() + kRest);
  return nullptr;
}

}  // namespace hcomm
