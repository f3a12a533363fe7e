#include "transport/frames.h"

#include <algorithm>

#include "base/assert.h"
#include "base/little_endian.h"

namespace hcomm {
namespace {

// What a frame of each kind must look like.
struct Rule {
  FrameKind kind;
  std::uint32_t least;
  std::uint32_t most;
  bool has_value;
  bool has_lane;
};
constexpr std::array kRules = {
    Rule{FrameKind::data, 1, kMostDataBytes, true, true},
    Rule{FrameKind::grant, 0, 0, true, true},
    Rule{FrameKind::query, 0, 0, false, false},
    Rule{FrameKind::status, kStatusBytes, kStatusBytes, false, false},
    Rule{FrameKind::verdict, kVerdictBytes, kVerdictBytes, false, false},
    Rule{FrameKind::left, 0, 0, false, false},
    Rule{FrameKind::begin, 0, 0, false, false},
};

Status malformed(const std::string& what) { return Status::failure(hcommRemoteError, "a malformed frame: " + what); }

bool all_zero(ConstBytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

}  // namespace

std::array<std::byte, kFrameHeaderBytes> to_bytes(const Frame& frame) {
  std::array<std::byte, kFrameHeaderBytes> bytes{};
  Bytes rest(bytes);
  put(rest, static_cast<std::uint8_t>(frame.kind));
  put(rest, static_cast<std::uint8_t>(frame.lane));
  put(rest, std::uint16_t{0});
  put(rest, frame.context);
  put(rest, frame.value);
  put(rest, frame.length);
  put(rest, std::uint32_t{0});
  return bytes;
}

Result<Frame> parse_frame(std::span<const std::byte, kFrameHeaderBytes> bytes) {
  ConstBytes rest(bytes);
  const auto kind = take<std::uint8_t>(rest);
  const auto lane = take<std::uint8_t>(rest);
  const auto first_zero = take<std::uint16_t>(rest);
  Frame frame;
  frame.context = take<std::uint32_t>(rest);
  frame.value = take<std::uint64_t>(rest);
  frame.length = take<std::uint32_t>(rest);
  if (first_zero != 0 || take<std::uint32_t>(rest) != 0) return malformed("what must be 0 is not");
  const auto* const rule = std::ranges::find(kRules, static_cast<FrameKind>(kind), &Rule::kind);
  if (rule == kRules.end()) return malformed("kind " + std::to_string(kind));
  if (lane >= (rule->has_lane ? kLanes : 1)) return malformed("lane " + std::to_string(lane));
  if (!rule->has_value && frame.value != 0) return malformed("a value where none belongs");
  if (frame.length < rule->least || frame.length > rule->most) {
    return malformed("kind " + std::to_string(kind) + " with " + std::to_string(frame.length) + " bytes");
  }
  frame.kind = rule->kind;
  frame.lane = static_cast<Lane>(lane);
  return frame;
}

std::array<std::byte, kMessageHeaderBytes> to_bytes(const MessageHeader& header) {
  std::array<std::byte, kMessageHeaderBytes> bytes{};
  Bytes rest(bytes);
  put(rest, header.length);
  put(rest, header.mark);
  return bytes;
}

MessageHeader parse_message_header(std::span<const std::byte, kMessageHeaderBytes> bytes) {
  ConstBytes rest(bytes);
  MessageHeader header;
  header.length = take<std::uint64_t>(rest);
  header.mark = take<std::uint64_t>(rest);
  return header;
}

std::array<std::byte, kStatusBytes> to_bytes(const PeerStatus& status) {
  HCOMM_ASSERT(status.calls.size() <= kRecentCalls);
  std::array<std::byte, kStatusBytes> bytes{};
  Bytes rest(bytes);
  put(rest, status.pid);
  put(rest, static_cast<std::uint32_t>(status.calls.size()));
  put(rest, status.beat);
  for (const char letter : status.host) put(rest, letter);
  for (const CallWords& call : status.calls) {
    const PackedCall packed = pack(call);
    for (const std::uint64_t word : {packed.kind, packed.count, packed.number, packed.before}) put(rest, word);
  }
  return bytes;
}

Result<PeerStatus> parse_status(std::span<const std::byte, kStatusBytes> bytes, int ranks) {
  ConstBytes rest(bytes);
  PeerStatus status;
  status.pid = take<std::int32_t>(rest);
  const auto calls = take<std::uint32_t>(rest);
  status.beat = take<std::uint64_t>(rest);
  std::string host;
  for (std::size_t i = 0; i < status.host.size(); ++i) host += take<char>(rest);
  status.host = host_name(host.substr(0, host.find('\0')));
  if (status.pid < 0 || calls > kRecentCalls) return malformed("a status that cannot be");
  for (std::uint32_t i = 0; i < calls; ++i) {
    PackedCall packed;
    packed.kind = take<std::uint64_t>(rest);
    packed.count = take<std::uint64_t>(rest);
    packed.number = take<std::uint64_t>(rest);
    packed.before = take<std::uint64_t>(rest);
    const std::optional<CallWords> call = unpack(packed, ranks);
    if (!call.has_value()) return malformed("a call that cannot be");
    status.calls.push_back(*call);
  }
  if (!all_zero(rest)) return malformed("a status that cannot be");
  return status;
}

std::array<std::byte, kVerdictBytes> to_bytes(const Verdict& verdict) {
  std::array<std::byte, kVerdictBytes> bytes{};
  Bytes rest(bytes);
  for (const std::uint64_t word : pack(verdict)) put(rest, word);
  return bytes;
}

Result<Verdict> parse_verdict(std::span<const std::byte, kVerdictBytes> bytes, int ranks) {
  ConstBytes rest(bytes);
  VerdictWords words{};
  for (std::uint64_t& word : words) word = take<std::uint64_t>(rest);
  const std::optional<Verdict> verdict = unpack(words, ranks);
  if (!verdict.has_value()) return malformed("a verdict that cannot be");
  return *verdict;
}

}  // namespace hcomm
