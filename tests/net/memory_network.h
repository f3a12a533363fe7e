// A Network in memory with a clock that moves when told to: each wait() lets its whole time pass. Streams carry `capacity` bytes
// at most, so that 1 delivers byte by byte. One thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "net/network.h"

namespace hcomm {

class MemoryNetwork final : public Network {
 public:
  explicit MemoryNetwork(std::size_t capacity = 1 << 16) : capacity_(capacity) {}

  const Clock& clock() const override { return clock_; }
  Result<std::unique_ptr<Listener>> listen(const Address& at, Watcher& watcher) override;
  Result<std::unique_ptr<Stream>> connect(const Address& to, Watcher& watcher) override;
  void wait(TimeNs most) override { clock_.advance(most); }
  int dispatch() override;  // tells everybody
  void wake() override {}

  // Connections to this port come to nothing, for ever.
  void swallow(std::uint16_t port) { swallowed_.insert(port); }
  void set_capacity(std::size_t capacity) { capacity_ = capacity; }

 private:
  friend class MemoryStream;
  friend class MemoryListener;

  struct Link {  // both directions of a connection
    std::deque<std::byte> bytes[2];
    bool closed[2] = {false, false};  // by this side
    bool reset = false;
  };
  struct Socket {
    Watcher* watcher = nullptr;
    std::shared_ptr<Link> link;  // null: a listener, or not connected
    int side = 0;
    Address peer;
    bool refused = false;
  };

  ManualClock clock_;
  std::size_t capacity_;
  std::map<int, Socket> sockets_;
  std::map<std::uint16_t, std::deque<int>> queues_;  // by port: connections that nobody has accepted
  std::map<std::uint16_t, int> listeners_;
  std::set<std::uint16_t> swallowed_;
  int next_id_ = 1;
};

}  // namespace hcomm
