#include "transport/frames.h"

#include <catch2/catch.hpp>

#include "base/random.h"

namespace hcomm {
namespace {

std::array<std::byte, kFrameHeaderBytes> bytes_of(const Frame& frame) { return to_bytes(frame); }

bool legal(const Frame& frame) { return parse_frame(bytes_of(frame)).ok(); }

}  // namespace

TEST_CASE("a frame survives its bytes") {
  const Frame frames[] = {
      {.kind = FrameKind::data, .lane = Lane::point_to_point, .context = 7, .value = std::uint64_t{1} << 40, .length = 5},
      {.kind = FrameKind::grant, .lane = Lane::control, .context = UINT32_MAX, .value = UINT64_MAX},
      {.kind = FrameKind::query, .context = 3},
      {.kind = FrameKind::status, .context = 3, .length = kStatusBytes},
      {.kind = FrameKind::verdict, .context = 3, .length = kVerdictBytes},
      {.kind = FrameKind::left, .context = 3},
      {.kind = FrameKind::begin},
  };
  for (const Frame& frame : frames) CHECK(parse_frame(bytes_of(frame)).value() == frame);
}

TEST_CASE("the bytes of a frame are the same on every machine") {
  const Frame frame = {.kind = FrameKind::data, .lane = Lane::control, .context = 0x01020304, .value = 0x1122, .length = 9};
  const auto bytes = bytes_of(frame);
  const unsigned expected[kFrameHeaderBytes] = {1, 2, 0, 0, 4, 3, 2, 1, 0x22, 0x11, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) CHECK(std::to_integer<unsigned>(bytes[i]) == expected[i]);
}

TEST_CASE("what no frame may be is refused") {
  CHECK_FALSE(legal({.kind = FrameKind::data, .length = 0}));
  CHECK(legal({.kind = FrameKind::data, .length = kMostDataBytes}));
  CHECK_FALSE(legal({.kind = FrameKind::data, .length = kMostDataBytes + 1}));
  CHECK_FALSE(legal({.kind = FrameKind::data, .length = UINT32_MAX}));  // 4 GiB
  CHECK_FALSE(legal({.kind = FrameKind::grant, .length = 1}));
  CHECK_FALSE(legal({.kind = FrameKind::query, .value = 1}));
  CHECK_FALSE(legal({.kind = FrameKind::query, .lane = Lane::control}));
  CHECK_FALSE(legal({.kind = FrameKind::status, .length = kStatusBytes - 1}));
  CHECK_FALSE(legal({.kind = FrameKind::verdict, .length = kVerdictBytes + 1}));
  CHECK_FALSE(legal({.kind = static_cast<FrameKind>(0)}));
  CHECK_FALSE(legal({.kind = static_cast<FrameKind>(8)}));
  CHECK_FALSE(legal({.kind = FrameKind::data, .lane = static_cast<Lane>(3), .length = 1}));
  for (const std::size_t zero : {2, 3, 20, 21, 22, 23}) {
    auto bytes = bytes_of({.kind = FrameKind::left});
    bytes[zero] = std::byte{1};
    CHECK_FALSE(parse_frame(bytes).ok());
  }
}

TEST_CASE("a parsed frame is one that can be written") {
  Random random(11);
  for (int i = 0; i < 100000; ++i) {
    std::array<std::byte, kFrameHeaderBytes> bytes{};
    for (std::byte& each : bytes) each = static_cast<std::byte>(random.below(random.below(4) == 0 ? 256 : 3));
    const Result<Frame> frame = parse_frame(bytes);
    if (frame.ok()) REQUIRE(to_bytes(frame.value()) == bytes);
  }
}

TEST_CASE("a status survives its bytes, and its unused ones are 0") {
  PeerStatus status = {.pid = 77, .beat = 5, .host = host_name("node-17"), .calls = {}};
  for (std::uint64_t number = 8; number < 8 + kRecentCalls; ++number) {
    CHECK(parse_status(to_bytes(status), 4).value() == status);
    auto bytes = to_bytes(status);
    bytes.back() = std::byte{1};
    CHECK_FALSE(parse_status(bytes, 4).ok());
    status.calls.push_back({.collective = Collective::broadcast, .root = 3, .count = 1000, .number = number, .before = 99});
  }
  CHECK(parse_status(to_bytes(status), 4).value() == status);
  CHECK_FALSE(parse_status(to_bytes(status), 3).ok());  // there is no root 3
  auto bytes = to_bytes(status);
  bytes[4] = std::byte{200};  // calls
  CHECK_FALSE(parse_status(bytes, 4).ok());
}

TEST_CASE("a verdict survives its bytes, and is checked") {
  const Verdict verdict = {.reason = Reason::died, .culprit = 3, .pid = 1234, .writer = 1};
  CHECK(parse_verdict(to_bytes(verdict), 4).value() == verdict);
  CHECK_FALSE(parse_verdict(to_bytes(verdict), 3).ok());  // there is no rank 3
  Verdict wrong = verdict;
  wrong.reason = static_cast<Reason>(99);
  CHECK_FALSE(parse_verdict(to_bytes(wrong), 4).ok());
}

}  // namespace hcomm
