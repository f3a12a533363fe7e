// One rank's connections to the other ranks of a job, shared by all of its communicators: one connection for each peer that it
// ever talks to, made on first use by whichever end needs it first.
//
//   Threads:  any; one mutex guards everything. Of several threads that sleep, one waits for the network and moves bytes for all.
//   Blocking: HubContext::sleep(), and the end of the hub for at most a second, until what was sent has arrived.
//   Lifetime: lives as long as one of its contexts; a context is one communicator's part and dies before the board it was given.
//   Deaths:   a connection that ends, or a listener that refuses, is the peer's death, unless it said that it was leaving.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/parse_network.h"
#include "net/acceptor.h"
#include "net/dialer.h"
#include "net/network.h"
#include "transport/bell_socket.h"
#include "transport/context_state.h"
#include "transport/link.h"
#include "transport/transport.h"

namespace hcomm {

struct HubOptions {
  std::array<std::byte, 16> job{};  // its name
  Secret secret{};                  // of its links
  int rank = 0;
  int ranks = 1;
  std::unique_ptr<Network> network;
  std::unique_ptr<BellSocket> bell;  // of this network; for peers that share memory. May be null
  std::function<void()> in_child;    // closes the network's sockets in the child of a fork
  TimeNs unreachable_after = kNever;  // that none of a peer's addresses takes a connection
};

class Hub final : public LinkOwner, private Host {
 public:
  static constexpr std::size_t kMostEarlyContexts = 64;  // that peers may speak of before this rank has made them

  explicit Hub(HubOptions options);
  ~Hub() override;

  // Listens at one more place; returns the address with the port it got.
  Result<Address> listen(const Address& place, const PortRange& ports = {});

  // In the child of a fork, where nothing but the destructor is called afterwards.
  void abandon_in_child();

  // Where all ranks listen, in rank order; before the first channel is used, and again before each new communicator. Whoever was
  // taken for gone is there again, also at the same place, but for the communicators that there were: in those it stays dead.
  void set_peers(std::vector<std::vector<Address>> peers);

 private:
  friend class HubContext;
  friend class TcpChannel;

  // Hears of a dialer's end.
  class DialWatch final : public Watcher {
   public:
    DialWatch(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
    void ready() override { hub_.dial_ended(rank_); }

   private:
    Hub& hub_;
    const int rank_;
  };
  struct Peer {
    std::vector<Address> at;
    std::unique_ptr<Link> link;
    std::unique_ptr<DialWatch> dial_watch;
    std::unique_ptr<Dialer> dialer;
    TimeNs dials_us_since = kNever;  // it prefers its own connection, which is on its way; not waited for long
    bool was_told_gone = false;      // by it, of this rank; once may be of a communicator that it has not left yet
    bool arriving = false;  // its own connection is let in, and nearly made
    bool gone = false;      // there was a link, or nobody listens there any more
    Death how = Death::seen;
    TimeNs missed_at = kNever;  // nobody listened there then; gone after a grace
    std::string unreachable;  // why no link can be made, if so
    std::set<std::uint32_t> past;  // contexts that were shared with whoever was this rank before

    bool hears_of(std::uint32_t context) const { return link != nullptr && !past.contains(context); }
  };
  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  // All with the mutex held.
  ContextState& open_context(std::uint32_t id, const Board& board);
  void close_context(ContextState& context);
  bool is_closed(std::uint32_t id) const { return id < closed_below_ || closed_.contains(id); }
  ContextState* find_context(std::uint32_t id);
  ContextState* find_or_make_early(std::uint32_t id);

  void meet_again(int rank, std::vector<Address> at);
  bool stands(Link& link);
  void need(int rank);
  void link_up(int rank, std::unique_ptr<Stream> stream, Link::End end);
  void need_again(int rank);
  void resume(int rank, ContextState& context);
  void lose(int rank);
  void dial_ended(int rank);
  void has_died(int rank, Death how);
  void drop_unbegun(int rank);
  bool is_settled(int rank) const;
  void cannot_reach(int rank, const std::string& why);
  void fail_lanes(int rank, const std::string& why);

  void want_to_send(std::uint32_t context, int rank, Lane lane, TcpLane& state);
  void want_to_receive(std::uint32_t context, int rank, Lane lane, TcpLane& state);
  void flush(int rank);
  void want_turn(int rank);
  bool has_turns() const { return !ready_.empty(); }
  int dispatch();
  void tend();
  enum class Until : std::uint8_t { sent, arrived };
  void settle(std::unique_lock<std::mutex>& lock, TimeNs most, Until until);
  void ask_everybody(std::uint32_t context);
  void spread(ContextState& context);
  void tell_verdicts(int rank);
  PeerStatus own_status(const Board& board) const;
  void send_status(Link& link, std::uint32_t context, const Board& board) const;
  static void note_status(Board& board, int rank, const PeerStatus& status);

  Refusal judge(const Claim& claim) override;
  void arrived(const Claim& claim, std::unique_ptr<Stream> stream) override;
  void lost(const Claim& claim) override;
  void report(std::string_view line) override;

  TcpLane* lane_for(Link& link, const Frame& frame, bool& broken) override;
  bool heard(Link& link, const Frame& frame, ConstBytes payload) override;
  void received_some(Link& link, std::uint32_t context) override;
  void became_ready(Link& link) override { want_turn(link.peer()); }
  Bytes shared_buffer() override { return buffer_; }

  std::mutex mutex_;
  std::condition_variable changed_;  // the thread that waited for the network has come back
  bool waited_for_ = false;          // a thread is inside Network::wait

  const std::array<std::byte, 16> job_;
  const Secret secret_;
  const int self_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<BellSocket> bell_;  // null where nobody rings
  const std::function<void()> in_child_;
  const TimeNs unreachable_after_;
  bool abandoned_ = false;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<Peer> peers_;  // [rank]
  std::map<std::uint32_t, std::unique_ptr<ContextState>> contexts_;
  std::set<std::uint32_t> closed_;       // contexts that have been here, but for all below closed_below_
  std::uint32_t closed_below_ = 0;
  std::map<std::uint32_t, std::array<std::byte, kVerdictBytes>> verdicts_;  // of failed contexts, also of closed ones
  std::vector<int> ready_;  // peers whose links have something to do
  std::vector<int> turns_;  // those whose turn it is
  std::vector<std::byte> buffer_;
  TimeNs tended_at_ = 0;
};

// Of a rank: owned by all of its communicators in a job together; the last one ends it.
using SharedHub = std::shared_ptr<Hub>;

}  // namespace hcomm
