// A doorbell for who sleeps in epoll: a datagram socket with a random abstract name, which peers of this host find in the
// doorbell (window.h). A datagram says nothing but "look"; whoever else may send one wakes a sleeper too early, and no more.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "net/kernel_network.h"
#include "transport/window.h"

namespace hcomm {

// The listening half. One thread; its network outlives it.
class BellSocket final : public Watcher {
 public:
  static Result<std::unique_ptr<BellSocket>> open(KernelNetwork& network);
  ~BellSocket() override;

  BellName name() const { return name_; }
  void ready() override;  // takes what has come

 private:
  BellSocket() = default;

  int socket_ = -1;
  BellName name_ = 0;
  std::unique_ptr<Watch> watch_;
};

// Any thread. Nothing happens when nobody listens there, or the bell rings already.
void ring_socket(BellName name);

}  // namespace hcomm
