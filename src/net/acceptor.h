// Between a Listener and its user: only who has proved to hold the secret gets through. Whoever connects has kHandshakeDeadline
// for its proof; at most `most` do so at once, and more wait in the system's queue. When all places are taken, the oldest one
// that has not proved itself and has had its `grace` loses its place to the next in the queue: a flood delays a right
// connection, and does not keep it out.
//
//   Threads:  those of its Network.
//   Time:     expire() is called when next_time() has come, or at any other time.
//   Lifetime: the Network and the host outlive it. The host's functions may be called from any of its functions and from
//             Network::dispatch(), and must not destroy it.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/parse_network.h"
#include "net/greeting.h"
#include "net/handshake.h"
#include "net/network.h"

namespace hcomm {

// Who the connections are for.
class Host {
 public:
  virtual ~Host() = default;
  // Of one that has proved itself: none lets it in, and it arrives or is lost.
  virtual Refusal judge(const Claim& claim) = 0;
  // The stream's watcher must be set.
  virtual void arrived(const Claim& claim, std::unique_ptr<Stream> stream) = 0;
  virtual void lost(const Claim& claim) = 0;
  // A line for the log: whom it turned away and why, not more often than each kReportInterval.
  virtual void report(std::string_view line) = 0;
};

struct AcceptorLimits {
  std::size_t most = 128;
  TimeNs deadline = kHandshakeDeadline;
  TimeNs grace = 100 * kMillisecond;
  PortRange ports;  // where it may listen, if the address has no port
};

inline constexpr TimeNs kReportInterval = 10 * kSecond;

class Acceptor {
 public:
  static Result<std::unique_ptr<Acceptor>> listen(Network& network, const Address& at, const Secret& secret, Host& host,
                                                  const AcceptorLimits& limits = {});
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();

  Address address() const { return listener_->address(); }

  void expire(TimeNs now);
  TimeNs next_time() const;  // 0 when there is something to do already, kNever when nothing is under way

  std::size_t under_way() const { return guests_.size(); }
  std::uint64_t turned_away() const { return turned_away_; }
  std::uint64_t turned_away(Refusal why) const { return by_reason_[static_cast<std::size_t>(why)]; }

 private:
  struct Guest;
  class Door final : public Watcher {  // the listener's watcher
   public:
    explicit Door(Acceptor& acceptor) : acceptor_(acceptor) {}
    void ready() override { acceptor_.let_in(); }

   private:
    Acceptor& acceptor_;
  };
  using Guests = std::list<Guest>;

  Acceptor(Network& network, const Secret& secret, Host& host, const AcceptorLimits& limits);
  void let_in();
  bool make_room(TimeNs now);
  void serve(Guest& guest);
  void remove(Guest& guest);
  void count(Refusal why, const Address& peer, std::string_view text, TimeNs now);
  void report_if_due(TimeNs now);

  Network& network_;
  const Secret secret_;
  Host& host_;
  const AcceptorLimits limits_;
  Door door_{*this};
  std::unique_ptr<Listener> listener_;
  Guests guests_;           // the oldest first
  bool queue_waits_ = false;  // there may be more in the system's queue

  std::uint64_t turned_away_ = 0;
  std::array<std::uint64_t, 8> by_reason_{};  // by Refusal; none: it said too little in time, or went away
  std::uint64_t unreported_ = 0;
  std::string last_reason_;
  TimeNs next_report_ = 0;
};

}  // namespace hcomm
