// What the engine needs from a way between ranks, and nothing else.
//
//   Threads:  one thread at a time uses a Transport and all that it returned; only ring() and alarm() may come from any thread.
//   Blocking: never, but for sleep(), which is bounded.
//   Lifetime: channels and the window die with their Transport; buffers outlive their Completion.
//   Order:    a Channel is reliable and delivers whole messages in posting order. A receive names the length and the mark of
//             what it expects; a message of another length or mark is a failure of that receive (hcommMismatch) before a
//             byte of it is used, and of all later ones.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/poller.h"
#include "base/status.h"
#include "schedule/op.h"
#include "transport/board.h"
#include "transport/window.h"

namespace hcomm {

// Written once by the transport, read by whoever posted. Must stay where it is until finished.
struct Completion {
  bool finished = false;
  Status status;
};

// One direction pair to one peer on one lane. A message is the concatenation of its parts; both ends may cut it into
// parts as they like. Empty messages are messages. The span of parts is copied; the bytes are borrowed until finished. The
// mark says which call a message is of (transport/call_words.h).
class Channel {
 public:
  virtual ~Channel() = default;
  // Queue a message. A send ends when its bytes may be overwritten, which may be before the peer has them.
  virtual void send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion) = 0;
  virtual void recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion) = 0;
};

struct Traffic {
  std::uint64_t in_memory = 0;    // through memory that both share
  std::uint64_t over_network = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// A poller (base/poller.h) of all its channels. It sleeps until rung, until a peer died, or for at most 100 ms.
class Transport : public Poller {
 public:
  // The channel to a peer (not to oneself), made on first use.
  virtual Channel& channel(int peer, Lane lane) = 0;

  // The memory shared with all ranks; null where there is none.
  virtual Window* window() = 0;

  // Liveness and the verdict, as all ranks of the communicator see them.
  virtual Board& board() = 0;

  // Wakes every rank, so that it looks at the board; where ranks share no memory, tells them what stands there. Any thread.
  virtual void alarm() = 0;

  // What has been sent to and received from a peer, in bytes of messages and their headers.
  virtual Traffic traffic(int peer) const = 0;

  // Whoever looks at the board says so first: news of the peers end a sleep until then, and are no work of poll().
  virtual void heed() {}

  // The call has failed: nothing of it reads or writes its memory any more, and no message of it ends as if it were whole.
  virtual void withdraw() {}

  // Makes the ways by which news of a failure reach everybody, also from a rank that makes no more calls: where ranks share no
  // memory, to and from the ranks at distances of 1, 2, 4, ... A peer whose way is still being made, or kNoRank.
  virtual Rank reach() { return kNoRank; }

  // Asks the peers that share no memory with this rank how they are. Their answers change the board some time later.
  virtual void inquire() {}
};

// Wakes `rank` if it sleeps. Call after the store it waits for; that store must be seq_cst or be followed by a full fence.
void ring(Window& window, int rank);

}  // namespace hcomm
