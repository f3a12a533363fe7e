// The system's TCP, as a Network: non-blocking sockets, one epoll, one eventfd.
//
//   Sockets:  close-on-exec; never SIGPIPE; EINTR is never visible; small messages leave at once. Congestion control is the
//             system's.
//   Liveness: a host that has gone without a word fails its connections after half a minute: by keepalive, or, where bytes are
//             under way, by wait(), which looks for what has not been acknowledged. A host that answers keeps its connections,
//             however long its program takes nothing; so TCP_USER_TIMEOUT, which ends those too, is not for us.
//   Forks:    whoever holds a copy of a socket hides the end of the process that used it. In the child of a fork the sockets are
//             closed by close_all_in_child(), before the objects are destroyed there or left alone.
#pragma once

#include <memory>

#include "net/network.h"
#include "net/watch_table.h"

namespace hcomm {

// Watches somebody else's descriptor until it is destroyed, which must be before the descriptor is closed.
class Watch {
 public:
  Watch(WatchTable& table, WatchTable::Id id) : table_(table), id_(id) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { table_.remove(id_); }

 private:
  WatchTable& table_;
  WatchTable::Id id_;
};

class KernelNetwork final : public Network {
 public:
  static Result<std::unique_ptr<KernelNetwork>> open(TimeNs silence = kSilenceBeforeLost);

  const Clock& clock() const override { return clock_; }
  Result<std::unique_ptr<Listener>> listen(const Address& at, Watcher& watcher) override;
  Result<std::unique_ptr<Stream>> connect(const Address& to, Watcher& watcher) override;
  void wait(TimeNs most) override { table_.wait(most); }
  int dispatch() override { return table_.dispatch(); }
  void wake() override { table_.wake(); }

  // Such as a doorbell. Edge triggered: its watcher reads until there is nothing.
  Result<std::unique_ptr<Watch>> watch(int descriptor, Watcher& watcher);

  // Async-signal-safe.
  void close_all_in_child() { table_.close_all_in_child(); }

 private:
  explicit KernelNetwork(TimeNs silence) : table_(silence) {}

  MonotonicClock clock_;
  WatchTable table_;
};

}  // namespace hcomm
