// What everything that speaks TCP needs from a network, and nothing else. There are two: the kernel's (kernel_network.h), and a
// simulated one with a clock of its own in the tests.
//
//   Threads:  one at a time uses a Network and all that it made; only wake() may come from any thread, and wait() may run
//             while others use streams, but for dispatch().
//   Blocking: only wait().
//   Lifetime: streams and listeners are closed by their destructors, before their Network and before their watcher dies.
//   Events:   dispatch() calls ready() of each watcher whose socket may have become able to do more: edge triggered, so a watcher
//             goes on until it is told `later`. It may be called when there is nothing. A watcher may destroy its own and any
//             other stream in ready(); a destroyed stream's watcher is not called again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/status.h"
#include "net/address.h"

namespace hcomm {

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void ready() = 0;
};

enum class Io : std::uint8_t {
  moved,   // `bytes` bytes, at least one
  later,   // nothing can be moved now; the watcher will be called
  end,     // the other end has closed in good order (reads)
  failed,  // the connection is gone; the stream's failure() says why
};

struct IoResult {
  Io state = Io::later;
  std::size_t bytes = 0;
};

// A connection. Until it is made both read() and write() say `later`; one that cannot be made says `failed`.
class Stream {
 public:
  virtual ~Stream() = default;
  // Up to kMostParts parts are looked at; empty ones are legal, but not all of them.
  virtual IoResult read(std::span<const Bytes> parts) = 0;
  virtual IoResult write(std::span<const ConstBytes> parts) = 0;
  // Hands the stream over: from now on this one is told, and once in any case, for something may have come before.
  virtual void set_watcher(Watcher& watcher) = 0;
  virtual std::size_t unsent() const = 0;   // bytes written that the other end's system has not acknowledged
  virtual bool connected() const = 0;       // it was made; stays so when it fails afterwards
  virtual Address peer() const = 0;
  virtual std::string failure() const = 0;  // in the system's words, such as "connection refused"
  virtual bool refused() const = 0;         // failed because nobody listens there, or the other end reset it

  static constexpr std::size_t kMostParts = 64;
};

class Listener {
 public:
  virtual ~Listener() = default;
  // Null when nobody is there. The watcher is the new stream's.
  virtual std::unique_ptr<Stream> accept(Watcher& watcher) = 0;
  virtual Address address() const = 0;  // with the port that the system chose
};

class Network {
 public:
  virtual ~Network() = default;
  virtual const Clock& clock() const = 0;

  // Port 0 lets the system choose.
  virtual Result<std::unique_ptr<Listener>> listen(const Address& at, Watcher& watcher) = 0;
  // Begins to connect; fails at once only where that cannot even begin.
  virtual Result<std::unique_ptr<Stream>> connect(const Address& to, Watcher& watcher) = 0;

  // Until something has happened or wake() was called, or for at most `most`; then dispatch() tells the watchers. Returns how
  // many were told.
  virtual void wait(TimeNs most) = 0;
  virtual int dispatch() = 0;
  virtual void wake() = 0;
};

}  // namespace hcomm
