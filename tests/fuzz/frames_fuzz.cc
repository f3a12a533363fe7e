// Rooms: base, net, schedule, transport
//
// The first byte says what the rest is: a frame's header, a status, a verdict, the header of a message; or all that a link hears,
// in pieces whose size the second byte says. The link has lanes with posted sends and receives. Whatever it hears: receives end
// once and nothing is written beside their memory, no more arrives than was granted, and what the link says is frames in their
// order, no more of a stream than the other end granted.
#include "transport/frames.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "base/assert.h"
#include "fuzz/fuzz.h"
#include "net/scripted_stream.h"
#include "transport/link.h"

namespace hcomm {
namespace {

constexpr int kRanks = 4;
constexpr std::uint32_t kContexts = 2;

template <std::size_t kBytes>
std::array<std::byte, kBytes> padded(ConstBytes given) {
  std::array<std::byte, kBytes> bytes{};
  std::ranges::copy(given.first(std::min(given.size(), kBytes)), bytes.begin());
  return bytes;
}

void read_frame(ConstBytes given) {
  const auto bytes = padded<kFrameHeaderBytes>(given);
  const Result<Frame> frame = parse_frame(bytes);
  if (!frame.ok()) return HCOMM_ASSERT(frame.status().code() == hcommRemoteError);
  HCOMM_ASSERT(to_bytes(frame.value()) == bytes);
  HCOMM_ASSERT(frame.value().kind == FrameKind::data ? frame.value().length <= kMostDataBytes
                                                     : frame.value().length <= kMostControlBytes);
}

void read_status(ConstBytes given) {
  const Result<PeerStatus> status = parse_status(padded<kStatusBytes>(given), kRanks);
  if (status.ok()) HCOMM_ASSERT(parse_status(to_bytes(status.value()), kRanks).value() == status.value());
}

void read_verdict(ConstBytes given) {
  const Result<Verdict> verdict = parse_verdict(padded<kVerdictBytes>(given), kRanks);
  if (!verdict.ok()) return;
  HCOMM_ASSERT(verdict.value().culprit < kRanks);
  HCOMM_ASSERT(parse_verdict(to_bytes(verdict.value()), kRanks).value() == verdict.value());
}

void read_message_header(ConstBytes given) {
  const auto bytes = padded<kMessageHeaderBytes>(given);
  HCOMM_ASSERT(to_bytes(parse_message_header(bytes)) == bytes);
}

using Place = std::pair<std::uint32_t, Lane>;  // of a lane: context and lane

// What a hub would be: it makes lanes for a few contexts.
class Owner final : public LinkOwner, public ChannelOwner {
 public:
  TcpLane* lane_for(Link& link, const Frame& frame, bool& broken) override {
    broken = frame.context > kContexts;
    if (frame.context == kContexts) link.answer({.kind = FrameKind::left, .context = frame.context});  // it is closed
    return frame.context < kContexts ? &lane({frame.context, frame.lane}) : nullptr;
  }
  bool heard(Link& link, const Frame& frame, ConstBytes payload) override {
    switch (frame.kind) {
      case FrameKind::data:
      case FrameKind::begin: unreachable();  // the link's own
      case FrameKind::grant: {
        if (frame.context >= kContexts) return false;
        TcpLane& granted = lane({frame.context, frame.lane});
        granted.granted(frame.value);
        link.enqueue(frame.context, frame.lane, granted);
        auto& most = grants[{frame.context, frame.lane}];
        most = std::max(most, frame.value);
        return true;
      }
      case FrameKind::query:
        link.answer({.kind = FrameKind::status, .context = frame.context, .length = kStatusBytes}, to_bytes(PeerStatus{}));
        return true;
      case FrameKind::status: return parse_status(payload.first<kStatusBytes>(), kRanks).ok();
      case FrameKind::verdict: return parse_verdict(payload.first<kVerdictBytes>(), kRanks).ok();
      case FrameKind::left: return true;
    }
    unreachable();
  }
  void received_some(Link&, std::uint32_t context) override { HCOMM_ASSERT(context < kContexts); }
  void became_ready(Link&) override {}
  Bytes shared_buffer() override { return buffer_; }

  void finish(Completion& completion, Status status) override {
    HCOMM_ASSERT(!completion.finished);
    completion.finished = true;
    completion.status = std::move(status);
  }

  TcpLane& lane(const Place& place) { return lanes.try_emplace(place, *this, 1).first->second; }

  std::map<Place, TcpLane> lanes;
  std::map<Place, std::uint64_t> grants;

 private:
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 10);
};

// A receive between two bytes that stay what they are.
struct Receive {
  explicit Receive(std::size_t bytes) : memory(bytes + 2, std::byte{0xa5}), target(Bytes(memory).subspan(1, bytes)) {}
  bool is_whole() const { return memory.front() == std::byte{0xa5} && memory.back() == std::byte{0xa5}; }

  std::vector<std::byte> memory;
  Bytes target;
  Completion completion;
};

// What a link said is frames, perhaps with an unfinished one at the end.
void check_words(ConstBytes said, bool dialled, const std::map<Place, std::uint64_t>& grants) {
  std::map<Place, std::uint64_t> streams;
  bool first = dialled;
  while (said.size() >= kFrameHeaderBytes) {
    const Frame frame = parse_frame(said.first<kFrameHeaderBytes>()).value();
    HCOMM_ASSERT((frame.kind == FrameKind::begin) == first);
    first = false;
    if (frame.kind == FrameKind::data) {
      const Place place{frame.context, frame.lane};
      HCOMM_ASSERT(frame.value == streams[place]);
      streams[place] += frame.length;
      const auto grant = grants.find(place);
      HCOMM_ASSERT(streams[place] <= std::max<std::uint64_t>(kWindowBytes, grant == grants.end() ? 0 : grant->second));
    }
    said = said.subspan(std::min<std::size_t>(said.size(), kFrameHeaderBytes + frame.length));
  }
}

void hear(ConstBytes given, std::size_t piece, Link::End end) {
  Owner owner;
  auto other_end = std::make_unique<testing::ScriptedStream>();
  const testing::ScriptedStream& script = *other_end;
  other_end->to_say = given;
  other_end->read_piece = piece;
  other_end->write_piece = piece + 1000;  // a byte at a time would take long
  other_end->pauses = true;
  other_end->ends = true;
  std::deque<Receive> receives;
  std::deque<Completion> sends;
  std::map<Place, std::uint64_t> wanted;
  Link link(owner, 1, std::move(other_end), end);
  const std::vector<std::byte> payload(70000, std::byte{7});

  const auto post = [&](const Place& place, std::size_t bytes) {
    TcpLane& lane = owner.lane(place);
    Receive& receive = receives.emplace_back(bytes);
    lane.post_recv({&receive.target, 1}, 0, receive.completion);
    wanted[place] += kMessageHeaderBytes + bytes;
    if (const std::uint64_t grant = lane.grant_to_tell(); grant > 0) {
      link.post({.kind = FrameKind::grant, .lane = place.second, .context = place.first, .value = grant});
    }
  };
  for (const std::size_t bytes : {5, 0, 5000, 40000}) post({0, Lane::collective}, bytes);
  post({1, Lane::control}, 8);
  for (const std::size_t bytes : {std::size_t{100}, payload.size()}) {
    const ConstBytes part = ConstBytes(payload).first(bytes);
    TcpLane& lane = owner.lane({0, Lane::point_to_point});
    lane.post_send({&part, 1}, 0, sends.emplace_back());
    link.enqueue(0, Lane::point_to_point, lane);
  }

  for (int turns = 0; link.turn(); ++turns) {
    if (turns == 1) post({1, Lane::point_to_point}, 300);  // for what may have come before
    if (turns == 2) link.forget(owner.lane({0, Lane::point_to_point}));
  }
  HCOMM_ASSERT(link.gone() && !link.why().empty());
  for (const Receive& each : receives) HCOMM_ASSERT(each.is_whole());
  for (const auto& [place, lane] : owner.lanes) HCOMM_ASSERT(lane.bytes_received() <= wanted[place] + kWindowBytes);
  check_words(script.heard, end == Link::End::dialled, owner.grants);
  for (auto& [place, lane] : owner.lanes) lane.fail(hcommRemoteError, link.why());
  for (const Receive& each : receives) HCOMM_ASSERT(each.completion.finished);
  for (const Completion& each : sends) HCOMM_ASSERT(each.finished);
}

void run(std::uint8_t first, ConstBytes rest) {
  const auto listen = [&](Link::End end) {
    if (!rest.empty()) hear(rest.subspan(1), 1 + 16 * std::to_integer<std::size_t>(rest.front()), end);
  };
  switch (first % 6) {
    case 0: return read_frame(rest);
    case 1: return read_status(rest);
    case 2: return read_verdict(rest);
    case 3: return read_message_header(rest);
    case 4: return listen(Link::End::accepted);
    case 5: return listen(Link::End::dialled);
  }
}

}  // namespace
}  // namespace hcomm

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) hcomm::run(data[0], hcomm::bytes_of(data + 1, size - 1));
  return 0;
}
