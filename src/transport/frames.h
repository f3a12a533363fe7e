// What flows over a link between two ranks: frames of 24 bytes and what follows them. docs/wire_format.md tells the same.
//
//   | kind u8 | lane u8 | 0 u16 | context u32 | value u64 | length u32 | 0 u32 | length bytes ... |      all little-endian
//
// Pure functions. A frame is checked whole before any of it is used: kinds, lanes and lengths are bounded by this table, and what
// is 0 must be 0.
//
//   kind     value                                   length
//   data     offset in the stream of the channel     1 to kMostDataBytes: the bytes of the stream there
//   grant    up to where the stream may be sent      0
//   query    0                                       0                      how are you in this communicator?
//   status   0                                       kStatusBytes           so
//   verdict  0                                       kVerdictBytes          this communicator has failed
//   left     0                                       0                      the sender has left this communicator
//   begin    0                                       0                      first of who dialled: it knows that it is let in
//
// The stream of a channel is its messages, one after the other, each behind a header of 16 bytes: length u64, mark u64.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "schedule/op.h"
#include "transport/board.h"

namespace hcomm {

enum class FrameKind : std::uint8_t { data = 1, grant = 2, query = 3, status = 4, verdict = 5, left = 6, begin = 7 };

inline constexpr std::size_t kFrameHeaderBytes = 24;
inline constexpr std::size_t kMessageHeaderBytes = 16;
inline constexpr std::size_t kMostDataBytes = 128 << 10;

struct Frame {
  FrameKind kind = FrameKind::data;
  Lane lane = Lane::collective;
  std::uint32_t context = 0;
  std::uint64_t value = 0;
  std::uint32_t length = 0;

  friend bool operator==(const Frame&, const Frame&) = default;
};

std::array<std::byte, kFrameHeaderBytes> to_bytes(const Frame& frame);
Result<Frame> parse_frame(std::span<const std::byte, kFrameHeaderBytes> bytes);

struct MessageHeader {
  std::uint64_t length = 0;
  std::uint64_t mark = 0;
};
std::array<std::byte, kMessageHeaderBytes> to_bytes(const MessageHeader& header);
MessageHeader parse_message_header(std::span<const std::byte, kMessageHeaderBytes> bytes);

// How a rank is in a communicator: what its board says of it, without its death.
struct PeerStatus {
  std::int32_t pid = 0;
  std::uint64_t beat = 0;
  HostName host{};
  std::vector<CallWords> calls;  // the latest that are known, in order; at most kRecentCalls

  friend bool operator==(const PeerStatus&, const PeerStatus&) = default;
};
inline constexpr std::size_t kStatusBytes = 128;
std::array<std::byte, kStatusBytes> to_bytes(const PeerStatus& status);
Result<PeerStatus> parse_status(std::span<const std::byte, kStatusBytes> bytes, int ranks);

inline constexpr std::size_t kVerdictBytes = kVerdictWords * sizeof(std::uint64_t);
std::array<std::byte, kVerdictBytes> to_bytes(const Verdict& verdict);
Result<Verdict> parse_verdict(std::span<const std::byte, kVerdictBytes> bytes, int ranks);

inline constexpr std::size_t kMostControlBytes = std::max(kStatusBytes, kVerdictBytes);  // that follow any frame but data

}  // namespace hcomm
