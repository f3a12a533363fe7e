// A link whose other end asks and does not read. What a link does with anything else that it hears: tests/fuzz/frames_fuzz.cc.
#include "transport/link.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

// The same question again and again; takes nothing until `reads`.
struct Asker final : Stream {
  IoResult read(std::span<const Bytes> parts) override {
    if (questions == 0) return {Io::later, 0};
    --questions;
    const auto bytes = to_bytes(Frame{.kind = begun ? FrameKind::query : FrameKind::begin});
    begun = true;
    std::ranges::copy(bytes, parts.back().begin());
    return {Io::moved, bytes.size()};
  }
  IoResult write(std::span<const ConstBytes> parts) override {
    if (!reads) return {Io::later, 0};
    heard += parts.front().size();
    return {Io::moved, parts.front().size()};
  }
  void set_watcher(Watcher&) override {}
  std::size_t unsent() const override { return 0; }
  bool connected() const override { return true; }
  Address peer() const override { return {}; }
  std::string failure() const override { return "none"; }
  bool refused() const override { return false; }

  int questions = 0;
  bool begun = false;
  bool reads = false;
  std::size_t heard = 0;
};

struct Answerer final : LinkOwner {
  TcpLane* lane_for(Link&, const Frame&, bool&) override { return nullptr; }
  bool heard(Link& link, const Frame&, ConstBytes) override {
    link.answer({.kind = FrameKind::status, .length = kStatusBytes}, to_bytes(PeerStatus{}));
    return true;
  }
  void received_some(Link&, std::uint32_t) override {}
  void became_ready(Link&) override {}
  Bytes shared_buffer() override { return buffer; }

  std::array<std::byte, 1024> buffer{};
};

}  // namespace

TEST_CASE("whoever asks and does not read is answered no more, until it reads") {
  auto stream = std::make_unique<Asker>();
  Asker& asker = *stream;
  Answerer owner;
  Link link(owner, 1, std::move(stream), Link::End::accepted);
  asker.questions = 10000;
  REQUIRE(link.turn());
  REQUIRE(asker.questions == 0);
  asker.reads = true;
  REQUIRE(link.turn());
  constexpr std::size_t kAnswer = kFrameHeaderBytes + kStatusBytes;
  CHECK(asker.heard > Link::kMostUnread - kAnswer);
  CHECK(asker.heard < Link::kMostUnread + kAnswer);
  const std::size_t before = asker.heard;
  asker.questions = 1;
  REQUIRE(link.turn());
  CHECK(asker.heard == before + kAnswer);
}

}  // namespace hcomm
