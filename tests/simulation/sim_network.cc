#include "sim_network.h"

#include <array>
#include <deque>

#include "base/assert.h"

namespace hcomm::simulation {

// A connection: an end on each side, and a pipe from each side to the other.
struct Wire {
  struct End {
    int node = 0;
    std::uint16_t port = 0;
    SimNetwork* network = nullptr;
    Watcher* watcher = nullptr;  // null: nobody has it yet, or it is closed
    bool closed = false;
    std::string failure;
    bool refused = false;

    void tell() const {
      if (watcher != nullptr) network->tell(*watcher);
    }
    void fail(const std::string& why, bool was_refused) {
      if (!failure.empty()) return;
      failure = why;
      refused = was_refused;
      tell();
    }
  };
  struct Pipe {
    std::deque<std::byte> arrived;
    std::size_t on_the_way = 0;
    TimeNs last_arrival = 0;
    bool ended = false;  // nothing more will arrive
    bool lost = false;   // what is on the way will not
  };

  bool connected = false;
  std::array<End, 2> ends;
  std::array<Pipe, 2> pipes;  // pipes[side] leads away from that side
};

class SimStream final : public Stream {
 public:
  SimStream(Internet& internet, std::shared_ptr<Wire> wire, int side) : internet_(internet), wire_(std::move(wire)), side_(side) {
    ++internet_.open_streams_;
  }
  ~SimStream() override {
    --internet_.open_streams_;
    if (own().watcher != nullptr) own().network->forget(*own().watcher);
    own().watcher = nullptr;
    own().closed = true;
    if (internet_.crashed_.contains(own().node)) return;
    internet_.end(wire_, side_, !in().arrived.empty());
  }

  IoResult read(std::span<const Bytes> parts) override {
    std::size_t room = 0;
    for (const Bytes& part : parts) room += part.size();
    Wire::Pipe& from = in();
    std::size_t bytes = std::min(room, from.arrived.size());
    if (bytes == 0) {
      if (!own().failure.empty()) return {Io::failed, 0};
      return {from.ended ? Io::end : Io::later, 0};
    }
    if (internet_.chance(internet_.weather_.split_percent)) bytes = 1 + internet_.world_.random.below(bytes);
    std::size_t left = bytes;
    for (const Bytes& part : parts) {
      const std::size_t here = std::min(left, part.size());
      std::copy_n(from.arrived.begin(), here, part.begin());
      from.arrived.erase(from.arrived.begin(), from.arrived.begin() + static_cast<std::ptrdiff_t>(here));
      left -= here;
    }
    other().tell();  // there is room again
    return {Io::moved, bytes};
  }

  IoResult write(std::span<const ConstBytes> parts) override {
    if (!own().failure.empty()) return {Io::failed, 0};
    if (!wire_->connected) return {Io::later, 0};
    Wire::Pipe& into = out();
    const std::size_t room = internet_.weather_.buffer_bytes - std::min(internet_.weather_.buffer_bytes,
                                                                        into.on_the_way + into.arrived.size());
    std::size_t all = 0;
    for (const ConstBytes& part : parts) all += part.size();
    std::size_t bytes = std::min(all, room);
    if (bytes == 0) return {Io::later, 0};
    if (internet_.chance(internet_.weather_.split_percent)) bytes = 1 + internet_.world_.random.below(bytes);
    std::vector<std::byte> sent;
    for (const ConstBytes& part : parts) {
      const std::size_t here = std::min(bytes - sent.size(), part.size());
      sent.insert(sent.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(here));
    }
    if (internet_.crashed_.contains(own().node)) return {Io::moved, bytes};
    send_in_pieces(sent);
    return {Io::moved, bytes};
  }

  void set_watcher(Watcher& watcher) override {
    if (own().watcher != nullptr) own().network->forget(*own().watcher);
    own().watcher = &watcher;
    own().tell();
  }
  bool connected() const override { return wire_->connected; }
  Address peer() const override {
    const Wire::End& far = wire_->ends[static_cast<std::size_t>(1 - side_)];
    return Internet::address_of(far.node, far.port);
  }
  std::string failure() const override { return wire_->ends[static_cast<std::size_t>(side_)].failure; }
  bool refused() const override { return wire_->ends[static_cast<std::size_t>(side_)].refused; }
  std::size_t unsent() const override { return wire_->pipes[static_cast<std::size_t>(side_)].on_the_way; }

 private:
  Wire::End& own() { return wire_->ends[static_cast<std::size_t>(side_)]; }
  Wire::End& other() { return wire_->ends[static_cast<std::size_t>(1 - side_)]; }
  Wire::Pipe& out() { return wire_->pipes[static_cast<std::size_t>(side_)]; }
  Wire::Pipe& in() { return wire_->pipes[static_cast<std::size_t>(1 - side_)]; }

  void send_in_pieces(const std::vector<std::byte>& sent) {
    if (other().closed) return internet_.end(wire_, 1 - side_, true);  // the other end answers with a reset
    Wire::Pipe& into = out();
    for (std::size_t first = 0; first < sent.size();) {
      std::size_t bytes = sent.size() - first;
      if (internet_.chance(internet_.weather_.split_percent)) bytes = 1 + internet_.world_.random.below(bytes);
      const auto begin = sent.begin() + static_cast<std::ptrdiff_t>(first);
      into.on_the_way += bytes;
      into.last_arrival = std::max(into.last_arrival, internet_.world_.now() + internet_.delay());
      std::vector<std::byte> cut(begin, begin + static_cast<std::ptrdiff_t>(bytes));
      const auto arrive = [wire = wire_, side = side_, piece = std::move(cut)] {
        Wire::Pipe& pipe = wire->pipes[static_cast<std::size_t>(side)];
        pipe.on_the_way -= piece.size();
        if (!pipe.lost) pipe.arrived.insert(pipe.arrived.end(), piece.begin(), piece.end());
        wire->ends[static_cast<std::size_t>(1 - side)].tell();
      };
      internet_.world_.plan(into.last_arrival, arrive);
      first += bytes;
    }
  }

  Internet& internet_;
  const std::shared_ptr<Wire> wire_;
  const int side_;
};

class SimListener final : public Listener {
 public:
  SimListener(Internet& internet, SimNetwork& network, std::uint16_t port, Watcher& watcher)
      : internet_(internet), network_(network), port_(port), watcher_(watcher) {
    internet_.listeners_[{network_.node(), port_}] = this;
  }
  ~SimListener() override {
    network_.forget(watcher_);
    const auto found = internet_.listeners_.find({network_.node(), port_});
    if (found != internet_.listeners_.end() && found->second == this) internet_.listeners_.erase(found);
    for (const auto& wire : waiting_) internet_.end(wire, 1, true);
  }

  std::unique_ptr<Stream> accept(Watcher& watcher) override {
    if (waiting_.empty()) return nullptr;
    const std::shared_ptr<Wire> wire = waiting_.front();
    waiting_.pop_front();
    wire->ends[1].network = &network_;
    wire->ends[1].watcher = &watcher;
    wire->ends[1].tell();
    return std::make_unique<SimStream>(internet_, wire, 1);
  }
  Address address() const override { return Internet::address_of(network_.node(), port_); }

  void arrive(const std::shared_ptr<Wire>& wire) {
    waiting_.push_back(wire);
    network_.tell(watcher_);
  }

 private:
  Internet& internet_;
  SimNetwork& network_;
  const std::uint16_t port_;
  Watcher& watcher_;
  std::deque<std::shared_ptr<Wire>> waiting_;
};

// ---- all nodes

Internet::~Internet() = default;

Address Internet::address_of(int node, std::uint16_t port) {
  Address address{.family = Family::inet, .port = port};
  address.bytes[0] = std::byte{10};
  address.bytes[2] = static_cast<std::byte>(node / 256);
  address.bytes[3] = static_cast<std::byte>(node % 256);
  return address;
}

std::unique_ptr<SimNetwork> Internet::join(int node) { return std::make_unique<SimNetwork>(*this, node); }

TimeNs Internet::delay() {
  return weather_.least_delay +
         static_cast<TimeNs>(world_.random.below(static_cast<std::uint64_t>(weather_.most_delay - weather_.least_delay + 1)));
}

// One side sends no more; the other end is told behind what is on the way.
void Internet::end(const std::shared_ptr<Wire>& wire, int side, bool reset) {
  Wire::Pipe& pipe = wire->pipes[static_cast<std::size_t>(side)];
  if (reset) pipe.lost = true;
  pipe.last_arrival = std::max(pipe.last_arrival, world_.now() + delay());
  world_.plan(pipe.last_arrival, [wire, side, reset] {
    wire->pipes[static_cast<std::size_t>(side)].ended = true;
    Wire::End& far = wire->ends[static_cast<std::size_t>(1 - side)];
    if (reset) far.fail("connection reset", true);
    far.tell();
  });
}

void Internet::crash(int node) {
  crashed_.insert(node);
  std::erase_if(listeners_, [node](const auto& each) { return each.first.first == node; });
  for (const auto& weak : wires_) {
    const std::shared_ptr<Wire> wire = weak.lock();
    if (wire == nullptr) continue;
    for (int side = 0; side < 2; ++side) {
      const Wire::End& own = wire->ends[static_cast<std::size_t>(side)];
      if (own.node == node && !own.closed) end(wire, side, chance(50));
    }
  }
}

bool Internet::cut(int one, int other) {
  bool found = false;
  for (const auto& weak : wires_) {
    const std::shared_ptr<Wire> wire = weak.lock();
    if (wire == nullptr) continue;
    const bool is_between = std::minmax(wire->ends[0].node, wire->ends[1].node) == std::minmax(one, other);
    if (!is_between) continue;
    found = true;
    for (int side = 0; side < 2; ++side) {
      wire->pipes[static_cast<std::size_t>(side)].lost = true;
      world_.plan(world_.now() + delay(),
                  [wire, side] { wire->ends[static_cast<std::size_t>(side)].fail("connection timed out", false); });
    }
  }
  return found;
}

// ---- one node

const Clock& SimNetwork::clock() const { return internet_.world_.clock(); }

Result<std::unique_ptr<Listener>> SimNetwork::listen(const Address& at, Watcher& watcher) {
  const std::uint16_t port = at.port != 0 ? at.port : internet_.next_port_++;
  HCOMM_ASSERT(!internet_.listeners_.contains({node_, port}));
  return std::unique_ptr<Listener>(std::make_unique<SimListener>(internet_, *this, port, watcher));
}

Result<std::unique_ptr<Stream>> SimNetwork::connect(const Address& to, Watcher& watcher) {
  const int node = std::to_integer<int>(to.bytes[2]) * 256 + std::to_integer<int>(to.bytes[3]);
  const auto wire = std::make_shared<Wire>();
  wire->ends[0] = {.node = node_, .port = internet_.next_port_++, .network = this, .watcher = &watcher};
  wire->ends[1].node = node;
  wire->ends[1].port = to.port;
  std::erase_if(internet_.wires_, [](const auto& each) { return each.expired(); });
  internet_.wires_.push_back(wire);
  internet_.world_.plan(internet_.world_.now() + internet_.delay(), [&internet = internet_, wire] {
    const auto listener = internet.listeners_.find({wire->ends[1].node, wire->ends[1].port});
    if (wire->ends[0].closed) return;
    if (listener == internet.listeners_.end()) return wire->ends[0].fail("connection refused", true);
    wire->connected = true;
    listener->second->arrive(wire);
    wire->ends[0].tell();
  });
  return std::unique_ptr<Stream>(std::make_unique<SimStream>(internet_, wire, 0));
}

void SimNetwork::wait(TimeNs most) {
  World& world = internet_.world_;
  const TimeNs end = world.now() + most;
  while (due_.empty() && world.now() < end) {
    if (internet_.meanwhile && internet_.meanwhile()) continue;
    if (!world.step(end)) world.run_until(end);
  }
}

int SimNetwork::dispatch() {
  int told = 0;
  for (; !due_.empty(); ++told) {
    Watcher* const first = due_.front();
    due_.erase(due_.begin());
    first->ready();
  }
  return told;
}

}  // namespace hcomm::simulation
