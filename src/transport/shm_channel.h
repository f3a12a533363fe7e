// A channel over two byte rings. On the ring a message is a frame:
//
//   | length u64 | mark u64 | sequence u32 | check u32 | payload ... | up to 63 bytes to the next multiple of 64 |
//
// A message longer than the ring streams through it: both ends publish their cursor every kPieceBytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/byte_ring.h"
#include "transport/cursor.h"
#include "transport/fifo.h"
#include "transport/transport.h"

namespace hcomm {

struct FrameHeader {
  std::uint64_t length = 0;
  std::uint64_t mark = 0;
  std::uint32_t sequence = 0;  // of the message on its channel, from 0
  std::uint32_t check = 0;     // over the fields above and the channel
};
static_assert(sizeof(FrameHeader) == 24);

inline constexpr std::size_t kFrameUnit = 64;
inline constexpr std::size_t kPieceBytes = 16 << 10;
inline constexpr int kMostPieces = 64;  // each way in one poll, so that a long message cannot hold up everything else

// Finds accidents, not forgers; a forger is stopped by the checks of lengths and cursors.
std::uint32_t frame_check(std::uint64_t length, std::uint64_t mark, std::uint32_t sequence, int from, int to, Lane lane);

class ShmChannel final : public Channel {
 public:
  // The context and the window outlive the channel.
  ShmChannel(const Context& context, Window& window, int peer, Lane lane, CopyOut copy_out);

  void send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion) override;
  void recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion) override;

  // Moves what can be moved, at most kMostPieces each way. Returns how many pieces.
  int poll();

  std::uint64_t bytes_moved() const { return writer_.moved() + reader_.moved(); }

 private:
  template <class Part>
  struct Posted {
    std::vector<Part> parts;
    PartCursor<Part> cursor;
    Completion* completion = nullptr;
    std::uint64_t mark = 0;
    std::size_t pad = 0;
    bool begun = false;  // its header is written, or checked
  };
  using Outgoing = Posted<ConstBytes>;
  using Incoming = Posted<Bytes>;

  // What stopped a direction for good.
  struct Breakage {
    hcommResult_t code = hcommSuccess;
    std::string what;

    bool is_set() const { return code != hcommSuccess; }
  };

  int push_messages();
  bool push_piece(Outgoing& message, std::size_t room);
  int pull_messages();
  bool pull_piece(Incoming& message);
  void begin_receive(Incoming& message);
  void discard_padding();

  template <class Part>
  static void post(Fifo<Posted<Part>>& queue, std::span<const Part> parts, std::uint64_t mark, Completion& completion);
  template <class Part>
  static void finish(Fifo<Posted<Part>>& queue);
  template <class Part>
  static int fail_all(Fifo<Posted<Part>>& queue, const Breakage& breakage);

  Window& window_;  // borrowed
  const int peer_;
  const Lane lane_;

  RingWriter writer_;
  Fifo<Outgoing> sends_;
  std::uint32_t send_sequence_ = 0;
  Breakage send_breakage_;

  RingReader reader_;
  Fifo<Incoming> receives_;
  std::uint32_t recv_sequence_ = 0;
  std::size_t padding_ = 0;  // still to be discarded after the last message
  Breakage recv_breakage_;
};

}  // namespace hcomm
