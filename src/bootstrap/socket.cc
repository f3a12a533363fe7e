#include "bootstrap/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace hcomm {
namespace {

constexpr int kBacklog = 4096;  // the kernel cuts it to net.core.somaxconn; a full one is retried
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

Status refused_by_system(std::string_view what, int error) {
  return Status::failure(error == ENOMEM ? hcommOutOfMemory : hcommSystemError,
                         std::string(what) + ": " + std::strerror(error) +
                             (error == EMFILE || error == ENFILE ? " (raise the limit with ulimit -n)" : ""));
}

struct Name {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

// A leading zero byte: the name lives in the network namespace, not in a file system, and dies with its socket.
Name name_of(const JobId& id) {
  constexpr std::string_view prefix = "hcomm-";
  constexpr std::string_view digits = "0123456789abcdef";
  Name name;
  name.address.sun_family = AF_UNIX;
  std::string text(prefix);
  for (const std::byte value : id.name) {
    text += digits[std::to_integer<unsigned>(value) >> 4];
    text += digits[std::to_integer<unsigned>(value) & 15];
  }
  std::copy(text.begin(), text.end(), name.address.sun_path + 1);
  name.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

Result<Descriptor> make_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.open()) return refused_by_system("cannot make a Unix socket", errno);
  return made;
}

void take_descriptors(msghdr& message, Packet& packet) {
  std::size_t taken = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t numbers = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < numbers; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      Descriptor descriptor(number);
      if (taken < packet.descriptors.size()) packet.descriptors[taken++] = std::move(descriptor);
    }
  }
  packet.descriptors_lost = (message.msg_flags & MSG_CTRUNC) != 0;
}

}  // namespace

Result<Descriptor> listen_at(const JobId& id, TimeNs deadline) {
  Result<Descriptor> made = make_socket();
  if (!made.ok()) return std::move(made).status();
  const Name name = name_of(id);
  const MonotonicClock clock;
  while (bind(made.value().get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0) {
    if (errno != EADDRINUSE || clock.now() >= deadline) {
      return refused_by_system("cannot bind the meeting's Unix socket", errno);
    }
    constexpr timespec pause{0, 5 * kMillisecond};
    ppoll(nullptr, 0, &pause, nullptr);
  }
  if (listen(made.value().get(), kBacklog) != 0) return refused_by_system("cannot listen at the meeting's Unix socket", errno);
  return made;
}

Result<Visit> visit(const JobId& id) {
  Result<Descriptor> made = make_socket();
  if (!made.ok()) return std::move(made).status();
  const Name name = name_of(id);
  while (connect(made.value().get(), reinterpret_cast<const sockaddr*>(&name.address), name.bytes) != 0) {
    if (errno == ECONNREFUSED) return Visit{Knock::nobody, {}};
    if (errno == EAGAIN) return Visit{Knock::full, {}};
    if (errno != EINTR) return refused_by_system("cannot connect to the meeting", errno);
  }
  return Visit{Knock::answered, std::move(made).value()};
}

std::optional<SocketPeer> peer_process(const Descriptor& socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) return std::nullopt;
  return SocketPeer{credentials.pid, credentials.uid};
}

Sent send_packet(const Descriptor& socket, ConstBytes packet, std::span<const int> descriptors) {
  HCOMM_ASSERT(descriptors.size() <= 2);
  iovec part{const_cast<std::byte*>(packet.data()), packet.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  while (sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    const bool passes = errno == EAGAIN || errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM;
    return passes ? Sent::later : Sent::never;
  }
  return Sent::yes;
}

Packet receive_packet(const Descriptor& socket, Bytes buffer) {
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Packet packet;
  ssize_t got = 0;
  do {
    got = recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    packet.state = errno == EAGAIN ? Received::nothing : Received::end;
    return packet;
  }
  take_descriptors(message, packet);
  packet.state = got == 0 ? Received::end : Received::packet;
  packet.bytes = buffer.first(static_cast<std::size_t>(got));
  return packet;
}

Result<Descriptor> sealed_memory(ConstBytes contents) {
  Descriptor file(memfd_create("hcomm-members", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.open()) return refused_by_system("cannot make a file in memory", errno);
  std::size_t done = 0;
  while (done < contents.size()) {
    const ssize_t written = write(file.get(), contents.data() + done, contents.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return refused_by_system("cannot write a file in memory", errno);
    done += static_cast<std::size_t>(written);
  }
  if (fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return refused_by_system("cannot seal a file in memory", errno);
  return file;
}

Result<std::vector<std::byte>> read_sealed(const Descriptor& file, std::size_t bytes) {
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return refused_by_system("cannot look at the table of members", errno);
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return Status::failure(hcommRemoteError, "the table of members is not sealed");
  if (facts.st_size != static_cast<off_t>(bytes))
    return Status::failure(hcommRemoteError, "the table of members has a wrong size");
  std::vector<std::byte> contents(bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(file.get(), contents.data() + done, bytes - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return refused_by_system("cannot read the table of members", errno);
    done += static_cast<std::size_t>(got);
  }
  return contents;
}

}  // namespace hcomm
