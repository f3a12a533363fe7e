// A link whose other end asks and does not read; and one whose call fails in the middle of a message. What a link does with
// anything else that it hears: tests/fuzz/frames_fuzz.cc.
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

struct Caller final : ChannelOwner {
  void finish(Completion& completion, Status status) override {
    completion.status = std::move(status);
    completion.finished = true;
  }
};

}  // namespace

TEST_CASE("what is left of a frame is sent as it was when its call failed") {
  auto stream = std::make_unique<testing::ScriptedStream>();
  testing::ScriptedStream& peer = *stream;
  Answerer owner;
  Caller caller;
  Link link(owner, 1, std::move(stream), Link::End::dialled);
  REQUIRE(link.flush());
  const std::size_t greeting = peer.heard.size();
  std::vector<std::byte> message(8000);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i * 31 % 251 + 1);
  const std::vector<std::byte> as_it_was = message;

  for (const std::size_t room : {std::size_t{1}, kFrameHeaderBytes, kFrameHeaderBytes + kMessageHeaderBytes, std::size_t{1000}}) {
    INFO("the frame is interrupted after " << room << " bytes");
    TcpLane lane(caller, 1);
    Completion completion;
    const ConstBytes part(message);
    lane.post_send({&part, 1}, 7, completion);
    peer.heard.resize(greeting);
    peer.room = room;
    link.enqueue(0, Lane::collective, lane);
    REQUIRE(link.flush());
    REQUIRE(peer.heard.size() == greeting + room);

    link.keep_rest(lane);
    lane.fail(hcommAborted, "the call has failed");
    CHECK(completion.status.code() == hcommAborted);
    std::ranges::fill(message, std::byte{});
    link.forget(lane);
    peer.room = SIZE_MAX;
    REQUIRE(link.flush());
    CHECK(peer.heard.size() == greeting + kFrameHeaderBytes + kMessageHeaderBytes + as_it_was.size());
    CHECK(std::ranges::equal(std::span(peer.heard).last(as_it_was.size()), as_it_was));
    message = as_it_was;
  }
}

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
