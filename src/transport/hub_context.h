// One communicator's part of a hub: its channels, and the ways to wait and to tell its peers.
//
//   Threads:  one at a time, but for alarm(), which may come from any.
//   Lifetime: the board outlives it; its channels die with it. Its end tells the peers that this rank has left.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/channel_table.h"
#include "transport/hub.h"

namespace hcomm {

class TcpChannel;

class HubContext {
 public:
  // here: [rank], who shares memory with this rank; empty: nobody.
  HubContext(SharedHub hub, std::uint32_t id, const Board& board, std::vector<bool> here);
  ~HubContext();
  HubContext(const HubContext&) = delete;
  HubContext& operator=(const HubContext&) = delete;

  Channel& channel(int peer, Lane lane);

  // Moves what can be moved and finishes what has ended. Returns how much happened.
  int poll();
  // Until something has happened, or for at most `most`. True: nothing has.
  bool sleep(TimeNs most);

  Rank reach();  // as Transport::reach()
  // Asks all peers it is connected with how they are.
  void inquire();
  void heed();
  void withdraw();
  // Tells them of the verdict, now; and wakes this rank's own sleeper. Any thread.
  void alarm();
  void wake();  // the sleeper alone. Any thread
  BellName bell() const;  // where peers of this host ring; 0 if nowhere

  std::uint64_t bytes_moved(int peer) const;  // both ways, on all lanes

 private:
  friend class TcpChannel;

  const SharedHub hub_;
  const std::uint32_t id_;
  ContextState* state_;  // owned by the hub until this ends
  ChannelTable<TcpChannel> channels_;
};

}  // namespace hcomm
