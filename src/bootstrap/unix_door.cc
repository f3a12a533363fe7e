#include "bootstrap/unix_door.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace hcomm {
namespace {

constexpr TimeNs kRestAfterFailedAccept = 50 * kMillisecond;

}  // namespace

Result<std::unique_ptr<UnixDoor>> UnixDoor::open(KernelNetwork& network, Descriptor listener,
                                                 std::function<void(std::string_view line)> warn) {
  std::unique_ptr<UnixDoor> door(new UnixDoor(network, std::move(listener), std::move(warn)));
  Result<std::unique_ptr<Watch>> watch = network.watch(door->listener_.get(), *door);
  if (!watch.ok()) return std::move(watch).status();
  door->watch_ = std::move(watch).value();
  return door;
}

void UnixDoor::rest(std::string_view why, TimeNs now) {
  if (warn_) warn_("cannot accept a rank: " + std::string(why) + "; trying again");
  rests_until_ = now + kRestAfterFailedAccept;
}

// False when there is nobody, or no room.
bool UnixDoor::let_in_one(Server& server, TimeNs now) {
  Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.open()) {
    if (errno == EINTR || errno == ECONNABORTED) return true;
    restless_ = errno != EAGAIN;
    if (restless_) rest(std::strerror(errno), now);
    return false;
  }
  const std::optional<SocketPeer> peer = peer_process(socket);
  if (!peer.has_value() || peer->uid != geteuid()) {
    server.stray("of another user", now);
    return true;
  }
  Result<std::unique_ptr<UnixLine>> line = UnixLine::over(network_, std::move(socket));
  if (!line.ok()) {
    rest(line.status().trail(), now);
    return false;
  }
  server.let_in({.line = std::move(line).value(), .visible_pid = peer->pid}, now);
  return true;
}

void UnixDoor::let_in(Server& server, TimeNs now) {
  if (now < rests_until_) return;
  rests_until_ = 0;
  while (restless_ && server.has_room() && let_in_one(server, now)) {
  }
}

}  // namespace hcomm
