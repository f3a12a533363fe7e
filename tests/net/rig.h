// Watchers that count, and a loop that turns a network until something holds.
#pragma once

#include <functional>

#include "net/network.h"

namespace hcomm {

class CountingWatcher final : public Watcher {
 public:
  void ready() override {
    ++times;
    if (then) then();
  }

  int times = 0;
  std::function<void()> then;
};

inline constexpr TimeNs kTestPatience = 20 * kSecond;  // a bound for a hung test, not a time that any of them takes

// False when it did not come to hold.
inline bool turn_until(Network& network, const std::function<bool()>& holds) {
  const TimeNs deadline = network.clock().now() + kTestPatience;
  while (!holds()) {
    if (network.clock().now() >= deadline) return false;
    network.wait(10 * kMillisecond);
    network.dispatch();
  }
  return true;
}

// Port 0: the system chooses.
inline Address loopback_address(Family family = Family::inet) {
  return parse_address(family == Family::inet ? "127.0.0.1:0" : "[::1]:0").value();
}

}  // namespace hcomm
