#include "net/memory_network.h"

#include <algorithm>
#include <vector>

namespace hcomm {

class MemoryStream final : public Stream {
 public:
  MemoryStream(MemoryNetwork& network, int id) : network_(network), id_(id) {}

  ~MemoryStream() override {
    MemoryNetwork::Socket& own = socket();
    if (own.link != nullptr) {
      own.link->closed[own.side] = true;
      own.link->reset = own.link->reset || !own.link->bytes[1 - own.side].empty();
    }
    network_.sockets_.erase(id_);
  }

  IoResult read(std::span<const Bytes> parts) override {
    if (!open()) return broken();
    std::deque<std::byte>& bytes = socket().link->bytes[1 - socket().side];
    std::size_t moved = 0;
    for (const Bytes part : parts) {
      for (std::size_t i = 0; i < part.size() && !bytes.empty(); ++i, ++moved) {
        part[i] = bytes.front();
        bytes.pop_front();
      }
    }
    if (moved > 0) return {Io::moved, moved};
    return {socket().link->closed[1 - socket().side] ? Io::end : Io::later, 0};
  }

  IoResult write(std::span<const ConstBytes> parts) override {
    if (!open()) return broken();
    if (socket().link->closed[1 - socket().side]) socket().link->reset = true;
    if (socket().link->reset) return broken();
    std::deque<std::byte>& bytes = socket().link->bytes[socket().side];
    std::size_t moved = 0;
    for (const ConstBytes part : parts) {
      for (std::size_t i = 0; i < part.size() && bytes.size() < network_.capacity_; ++i, ++moved) bytes.push_back(part[i]);
    }
    return {moved > 0 ? Io::moved : Io::later, moved};
  }

  void set_watcher(Watcher& watcher) override { socket().watcher = &watcher; }
  std::size_t unsent() const override { return 0; }
  bool connected() const override { return socket().link != nullptr; }
  Address peer() const override { return socket().peer; }
  std::string failure() const override { return connected() ? "connection reset by peer" : "connection refused"; }
  bool refused() const override { return socket().refused || (connected() && socket().link->reset); }

 private:
  MemoryNetwork::Socket& socket() const { return network_.sockets_.at(id_); }
  bool open() const { return connected() && !socket().link->reset; }
  IoResult broken() const { return {connected() || socket().refused ? Io::failed : Io::later, 0}; }

  MemoryNetwork& network_;
  const int id_;
};

class MemoryListener final : public Listener {
 public:
  MemoryListener(MemoryNetwork& network, int id, const Address& address) : network_(network), id_(id), address_(address) {}

  ~MemoryListener() override {
    network_.queues_.erase(address_.port);
    network_.listeners_.erase(address_.port);
    network_.sockets_.erase(id_);
  }

  std::unique_ptr<Stream> accept(Watcher& watcher) override {
    std::deque<int>& queue = network_.queues_[address_.port];
    while (!queue.empty()) {
      const auto near = network_.sockets_.find(queue.front());
      queue.pop_front();
      if (near == network_.sockets_.end()) continue;
      const int id = network_.next_id_++;
      near->second.link = std::make_shared<MemoryNetwork::Link>();
      network_.sockets_[id] = {&watcher, near->second.link, 1, parse_address("10.0.0.9:9").value(), false};
      return std::make_unique<MemoryStream>(network_, id);
    }
    return nullptr;
  }

  Address address() const override { return address_; }

 private:
  MemoryNetwork& network_;
  const int id_;
  const Address address_;
};

Result<std::unique_ptr<Listener>> MemoryNetwork::listen(const Address& at, Watcher& watcher) {
  const int id = next_id_++;
  sockets_[id] = {&watcher, nullptr, 0, {}, false};
  listeners_[at.port] = id;
  return std::unique_ptr<Listener>(std::make_unique<MemoryListener>(*this, id, at));
}

Result<std::unique_ptr<Stream>> MemoryNetwork::connect(const Address& to, Watcher& watcher) {
  const int id = next_id_++;
  const bool heard_of = swallowed_.contains(to.port) || listeners_.contains(to.port);
  sockets_[id] = {&watcher, nullptr, 0, to, !heard_of};
  if (listeners_.contains(to.port)) queues_[to.port].push_back(id);
  return std::unique_ptr<Stream>(std::make_unique<MemoryStream>(*this, id));
}

int MemoryNetwork::dispatch() {
  std::vector<int> all;
  for (const auto& [id, socket] : sockets_) all.push_back(id);
  int told = 0;
  for (const int id : all) {
    const auto socket = sockets_.find(id);
    if (socket == sockets_.end()) continue;
    socket->second.watcher->ready();
    ++told;
  }
  return told;
}

}  // namespace hcomm
