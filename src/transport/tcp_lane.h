// A channel over a link: the state of one lane to one peer. A stream of bytes each way; the receiver says up to where it may be
// sent, which is what is consumed, what posted receives still want, and kWindowBytes more. So what nobody has asked for yet costs
// at most kWindowBytes of memory, and a receive that was posted is never held up.
//
//   Threads: the engine's thread posts; whichever thread drives the hub moves bytes; the hub's mutex guards all of it.
//   Ends:    are told to the context, which finishes the completions in the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/cursor.h"
#include "transport/fifo.h"
#include "transport/frames.h"
#include "transport/transport.h"

namespace hcomm {

inline constexpr std::size_t kWindowBytes = 64 << 10;

// What a channel asks of whoever owns it.
class ChannelOwner {
 public:
  virtual ~ChannelOwner() = default;
  virtual void finish(Completion& completion, Status status) = 0;
};

class TcpLane {
 public:
  TcpLane(ChannelOwner& owner, int peer) : owner_(owner), peer_(peer) {}

  void post_send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion);
  void post_recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion);

  // Sending. Bytes of the stream that may be sent now, as one frame; 0: nothing to send, or no room at the other end.
  std::size_t sendable();
  // Appends the next `bytes` bytes of the stream, which are sendable, to `pieces`, as far as `most_pieces` go. Good until
  // advance() takes them off.
  void peek(std::size_t bytes, std::size_t most_pieces, std::vector<ConstBytes>& pieces);
  void advance(std::size_t bytes);
  void granted(std::uint64_t up_to) { grant_ = std::max(grant_, up_to); }

  // Receiving. False: the peer has sent what it was not allowed to.
  [[nodiscard]] bool may_arrive(std::uint64_t offset, std::size_t bytes) const;
  // Where the next byte of the stream may be put at once, or nothing; arrived() then says how many were.
  Bytes direct_target();
  void arrived(std::size_t bytes);
  void deliver(ConstBytes bytes);
  // The grant that the peer should be told of now; 0: none.
  std::uint64_t grant_to_tell();
  // The peer has heard of no grant: the link was lost before it could be said.
  void was_not_heard() { told_ = kWindowBytes; }

  // No more will come or go; what is posted and what will be fails.
  void fail(hcommResult_t code, const std::string& why);

  std::uint64_t bytes_sent() const { return sent_; }
  std::uint64_t bytes_received() const { return received_; }

 private:
  // Why a direction has ended for good.
  struct Breakage {
    hcommResult_t code = hcommSuccess;
    std::string why;

    Status status() const { return Status::failure(code, why); }
  };
  struct Outgoing {
    std::array<std::byte, kMessageHeaderBytes> header;
    std::size_t header_sent = 0;
    std::vector<ConstBytes> parts;
    ConstCursor cursor;
    Completion* completion = nullptr;
  };
  struct Incoming {
    std::array<std::byte, kMessageHeaderBytes> header;
    std::size_t header_have = 0;
    std::vector<Bytes> parts;
    Cursor cursor;
    std::uint64_t mark = 0;
    Completion* completion = nullptr;
  };

  std::size_t consume(ConstBytes bytes);
  bool take_header(ConstBytes& bytes, Incoming& message);
  void finish_receive();
  void break_receiving(hcommResult_t code, const std::string& why);

  ChannelOwner& owner_;
  const int peer_;

  Fifo<Outgoing> sends_;
  std::uint64_t sent_ = 0;
  std::uint64_t grant_ = kWindowBytes;

  Fifo<Incoming> receives_;
  std::uint64_t received_ = 0;   // of the stream, used or in the backlog
  std::uint64_t consumed_ = 0;   // by receives
  std::uint64_t wanted_ = 0;     // the end of the last posted receive in the stream
  std::uint64_t told_ = kWindowBytes;
  std::vector<std::byte> backlog_;

  std::unique_ptr<const Breakage> sending_;  // null: it has not
  std::unique_ptr<const Breakage> receiving_;
};

}  // namespace hcomm
