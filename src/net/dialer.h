// Makes one connection to one other end that may have several addresses: tries one after the other until a holder of the secret
// has let it in.
//
//   Patience: an address that does not take the connection has `attempt`. One that has taken it may say nothing for as long as
//             it likes, for its program may be busy; once it has begun to answer it has kHandshakeDeadline. Whether to wait
//             longer is the owner's to decide: it destroys the dialer. Where no address has ever taken one, it fails after
//             `unreachable_after`.
//   Again:    where time, a full acceptor or a lost connection was the reason, an address is tried again after a pause; where
//             nobody listens only if `keeps_trying`; where somebody else is, or the secrets differ, never.
//   Threads:  those of its Network.
//   Time:     expire() is called when next_time() has come, or at any other time.
//   Lifetime: the Network and the owner outlive it. The owner is told once, when it has connected or failed, from expire() or
//             Network::dispatch(), and may destroy it then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/greeting.h"
#include "net/handshake.h"
#include "net/network.h"

namespace hcomm {

struct DialPlan {
  std::vector<Address> addresses;  // at least one; in the order in which they are tried
  bool keeps_trying = false;
  TimeNs attempt = 5 * kSecond;
  TimeNs answer = kHandshakeDeadline;
  TimeNs first_pause = 20 * kMillisecond;  // between rounds, doubled with each
  TimeNs longest_pause = kSecond;
  TimeNs unreachable_after = kNever;
};

class Dialer final : private Watcher {
 public:
  enum class State : std::uint8_t { dialing, connected, failed };

  // Nothing has been tried when it is made: the first expire() begins.
  Dialer(Network& network, const Secret& secret, const Claim& claim, DialPlan plan, Watcher& owner);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  void expire(TimeNs now);
  TimeNs next_time() const;

  State state() const { return state_; }
  std::unique_ptr<Stream> take();  // of one that is connected; its watcher must be set
  // The last one that came from another end: `duplicate` says that there is a connection already.
  Refusal refusal() const { return refusal_; }

  // It failed because no address has taken a connection in all its time.
  bool gave_up() const { return gave_up_; }

  // "10.0.0.1:6000: connection refused; 10.1.0.1:6000: nothing yet": each address and what came of it.
  std::string story() const;
  Status failure() const;  // hcommRemoteError with the story

 private:
  struct Candidate {
    Address address;
    std::string why;
    bool hopeless = false;
  };

  void ready() override;
  void begin(TimeNs now);
  void go_on(TimeNs now);
  void judge_end(TimeNs now);
  void end_attempt(std::string why, bool hopeless, TimeNs now);
  void look_after_round(TimeNs now);
  void become(State state);
  TimeNs limit(TimeNs deadline) const;

  Network& network_;
  const Secret secret_;
  const Claim claim_;
  const DialPlan plan_;
  Watcher& owner_;

  State state_ = State::dialing;
  Refusal refusal_ = Refusal::none;
  std::vector<Candidate> candidates_;
  std::size_t next_ = 0;                // of the candidates
  std::unique_ptr<Greeting> greeting_;  // with candidates_[next_ - 1]; null in a pause
  TimeNs deadline_ = 0;                 // of what is under way; kNever while the other end may take its time
  TimeNs pause_ = 0;
  TimeNs give_up_at_ = kNever;
  bool has_begun_ = false;
  bool was_taken_ = false;              // by any address, once
  bool gave_up_ = false;
};

}  // namespace hcomm
