// Where ranks of this host come in: an abstract Unix socket. Lets in processes of this user alone. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "bootstrap/server.h"
#include "bootstrap/socket.h"
#include "net/kernel_network.h"

namespace hcomm {

class UnixDoor final : private Watcher {
 public:
  static Result<std::unique_ptr<UnixDoor>> open(KernelNetwork& network, Descriptor listener,
                                                std::function<void(std::string_view line)> warn);

  void let_in(Server& server, TimeNs now);
  // For the next let_in(), if the server has room; 0: at once.
  TimeNs next_deadline() const { return restless_ ? rests_until_ : kNever; }
  void close_in_child() { listener_.reset(); }

 private:
  UnixDoor(KernelNetwork& network, Descriptor listener, std::function<void(std::string_view line)> warn)
      : network_(network), listener_(std::move(listener)), warn_(std::move(warn)) {}
  void ready() override { restless_ = true; }
  bool let_in_one(Server& server, TimeNs now);
  void rest(std::string_view why, TimeNs now);

  KernelNetwork& network_;
  Descriptor listener_;
  const std::function<void(std::string_view line)> warn_;
  std::unique_ptr<Watch> watch_;  // ends before the listener
  bool restless_ = true;
  TimeNs rests_until_ = 0;        // after a failed accept
};

}  // namespace hcomm
