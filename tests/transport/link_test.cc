// A link whose other end asks and does not read. What a link does with anything else that it hears: tests/fuzz/frames_fuzz.cc.
#include "transport/link.h"

#include <catch2/catch.hpp>

#include "net/scripted_stream.h"

namespace hcomm {
namespace {

// A greeting and so many questions.
std::vector<std::byte> questions(int count) {
  std::vector<std::byte> all;
  const auto add = [&](FrameKind kind) {
    const auto frame = to_bytes(Frame{.kind = kind});
    all.insert(all.end(), frame.begin(), frame.end());
  };
  add(FrameKind::begin);
  for (int question = 0; question < count; ++question) add(FrameKind::query);
  return all;
}

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
  auto stream = std::make_unique<testing::ScriptedStream>();
  testing::ScriptedStream& asker = *stream;
  Answerer owner;
  Link link(owner, 1, std::move(stream), Link::End::accepted);
  const auto many = questions(10000);
  asker.to_say = many;
  asker.write_piece = 0;
  REQUIRE(link.turn());
  REQUIRE(asker.to_say.empty());
  asker.write_piece = SIZE_MAX;
  REQUIRE(link.turn());
  constexpr std::size_t kAnswer = kFrameHeaderBytes + kStatusBytes;
  CHECK(asker.heard.size() > Link::kMostUnread - kAnswer);
  CHECK(asker.heard.size() < Link::kMostUnread + kAnswer);
  const std::size_t before = asker.heard.size();
  asker.to_say = ConstBytes(many).last(kFrameHeaderBytes);
  REQUIRE(link.turn());
  CHECK(asker.heard.size() == before + kAnswer);
}

}  // namespace hcomm
