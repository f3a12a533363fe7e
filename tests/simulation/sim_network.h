// A network in a World. Bytes arrive late, in pieces cut anywhere, in order; connections can be cut, and nodes can crash.
// Addresses are 10.0.x.y: node n is 10.0.(n / 256).(n % 256).
//
// What the kernel's TCP does that matters here is done, too: a connection to where nobody listens is refused; what was sent
// before a close still arrives; a close with unread bytes resets the connection, and what is on its way then is lost; buffers are
// bounded.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "net/network.h"
#include "sim_world.h"

namespace hcomm::simulation {

struct Weather {
  TimeNs least_delay = 20 * kMicrosecond;
  TimeNs most_delay = 2 * kMillisecond;
  std::size_t buffer_bytes = 64 << 10;  // of each direction of a connection
  int split_percent = 30;               // of writes and arrivals are cut at a random byte
};

class SimNetwork;
struct Wire;

// All nodes.
class Internet {
 public:
  Internet(World& world, Weather weather) : world_(world), weather_(weather) {}
  ~Internet();

  std::unique_ptr<SimNetwork> join(int node);
  static Address address_of(int node, std::uint16_t port = 0);

  // The node's process ends: its connections end at the other ends some time later, its listeners at once. What it still does
  // with its sockets afterwards has no effect.
  void crash(int node);
  // The connections between two nodes are lost without a word; each end is told some time later. False: there is none.
  bool cut(int one, int other);

  // What the others do while one waits: called again and again, and says whether anything was done.
  std::function<bool()> meanwhile;

  // Sockets that are open; none when everybody has left.
  int open_streams() const { return open_streams_; }
  int open_listeners() const { return static_cast<int>(listeners_.size()); }

 private:
  friend class SimNetwork;
  friend class SimStream;
  friend class SimListener;

  TimeNs delay();
  bool chance(int percent) { return world_.random.below(100) < static_cast<std::uint64_t>(percent); }
  void carry(const std::shared_ptr<Wire>& wire, int side);
  void end(const std::shared_ptr<Wire>& wire, int side, bool reset);

  World& world_;
  const Weather weather_;
  std::map<std::pair<int, std::uint16_t>, class SimListener*> listeners_;  // by node and port
  std::vector<std::weak_ptr<Wire>> wires_;
  std::set<int> crashed_;
  int open_streams_ = 0;
  std::uint16_t next_port_ = 1024;
};

// One node's sockets.
class SimNetwork final : public Network {
 public:
  SimNetwork(Internet& internet, int node) : internet_(internet), node_(node) {}

  const Clock& clock() const override;
  Result<std::unique_ptr<Listener>> listen(const Address& at, Watcher& watcher) override;
  Result<std::unique_ptr<Stream>> connect(const Address& to, Watcher& watcher) override;

  void wait(TimeNs most) override;
  int dispatch() override;
  void wake() override {}

  void tell(Watcher& watcher) {
    if (std::ranges::find(due_, &watcher) == due_.end()) due_.push_back(&watcher);
  }
  void forget(Watcher& watcher) { std::erase(due_, &watcher); }
  bool has_events() const { return !due_.empty(); }
  int node() const { return node_; }

 private:
  friend class SimStream;
  friend class SimListener;

  Internet& internet_;
  const int node_;
  std::vector<Watcher*> due_;  // in the order in which they were told
};

}  // namespace hcomm::simulation
