// Two lanes back to back: whatever one may send is carried over in pieces of any size.
#include "transport/tcp_lane.h"

#include <catch2/catch.hpp>

#include "base/random.h"

namespace hcomm {
namespace {

struct Owner final : ChannelOwner {
  void finish(Completion& completion, Status status) override {
    completion.status = std::move(status);
    completion.finished = true;
  }
};

struct Pair {
  Owner owner;
  TcpLane from{owner, 1};
  TcpLane to{owner, 0};
  std::uint64_t sent = 0;

  // Carries at most `most` bytes; how many.
  std::size_t carry(std::size_t most, bool direct = false) {
    const std::size_t bytes = std::min(from.sendable(), most);
    if (bytes == 0) return 0;
    std::vector<ConstBytes> pieces;
    from.peek(bytes, 64, pieces);
    std::vector<std::byte> wire;
    for (const ConstBytes& piece : pieces) wire.insert(wire.end(), piece.begin(), piece.end());
    REQUIRE(to.may_arrive(sent, wire.size()));
    from.advance(wire.size());
    sent += wire.size();
    ConstBytes rest(wire);
    const Bytes target = direct ? to.direct_target() : Bytes();
    if (!target.empty()) {
      const std::size_t here = std::min(target.size(), rest.size());
      std::ranges::copy(rest.first(here), target.begin());
      to.arrived(here);
      rest = rest.subspan(here);
    }
    if (!rest.empty()) to.deliver(rest);
    return wire.size();
  }
  void tell_grant() {
    if (const std::uint64_t grant = to.grant_to_tell(); grant > 0) from.granted(grant);
  }
};

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> data(bytes);
  for (std::byte& each : data) each = static_cast<std::byte>(random.below(256));
  return data;
}

void send(TcpLane& lane, const std::vector<std::byte>& data, std::uint64_t mark, Completion& completion) {
  const ConstBytes part(data);
  lane.post_send({&part, 1}, mark, completion);
}
void recv(TcpLane& lane, std::vector<std::byte>& data, std::uint64_t mark, Completion& completion) {
  const Bytes part(data);
  lane.post_recv({&part, 1}, mark, completion);
}

}  // namespace

TEST_CASE("messages cross a lane whole, whatever the order of posting and the sizes of pieces") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Pair pair;
    std::vector<std::vector<std::byte>> sent, got;
    for (int i = 0; i < 12; ++i) {
      const std::size_t size = random.below(3) == 0 ? 0 : random.below(random.below(4) == 0 ? 200000 : 300);
      sent.push_back(pattern(size, seed * 100 + static_cast<std::uint64_t>(i)));
      got.emplace_back(size);
    }
    std::vector<Completion> send_ends(sent.size()), recv_ends(sent.size());
    std::size_t sends = 0, recvs = 0;
    for (int turn = 0; turn < 100000 && !(recvs == got.size() && recv_ends.back().finished); ++turn) {
      if (sends < sent.size() && random.below(3) == 0) {
        send(pair.from, sent[sends], sends, send_ends[sends]);
        ++sends;
      }
      if (recvs < got.size() && random.below(4) == 0) {
        recv(pair.to, got[recvs], recvs, recv_ends[recvs]);
        ++recvs;
      }
      pair.tell_grant();
      pair.carry(1 + random.below(random.below(2) == 0 ? 20 : 100000), random.below(2) == 0);
    }
    INFO("seed " << seed);
    CHECK(got == sent);
    for (const Completion& each : send_ends) CHECK((each.finished && each.status.ok()));
    for (const Completion& each : recv_ends) CHECK((each.finished && each.status.ok()));
  }
}

TEST_CASE("what nobody asked for stops at the window") {
  Pair pair;
  const auto data = pattern(1 << 20, 1);
  Completion sent, received;
  send(pair.from, data, 5, sent);
  std::size_t crossed = 0;
  while (const std::size_t bytes = pair.carry(SIZE_MAX)) crossed += bytes;
  CHECK(crossed == kWindowBytes);
  pair.tell_grant();
  CHECK(pair.from.sendable() == 0);
  CHECK_FALSE(pair.to.may_arrive(pair.sent, 1));

  std::vector<std::byte> got(data.size());
  recv(pair.to, got, 5, received);
  pair.tell_grant();
  while (pair.carry(SIZE_MAX) > 0) {
  }
  CHECK(received.finished);
  CHECK(sent.finished);
  CHECK(got == data);
}

TEST_CASE("a grant that was lost with a connection that never began is told again") {
  Pair pair;
  const auto data = pattern(1 << 20, 2);
  Completion sent, received;
  std::vector<std::byte> got(data.size());
  recv(pair.to, got, 5, received);
  CHECK(pair.to.grant_to_tell() > kWindowBytes);  // and lost
  CHECK(pair.to.grant_to_tell() == 0);
  pair.to.was_not_heard();
  pair.tell_grant();
  send(pair.from, data, 5, sent);
  while (pair.carry(SIZE_MAX) > 0) {
  }
  CHECK(received.finished);
  CHECK(got == data);
}

TEST_CASE("a message with another mark or length fails its receive and all later ones, and is not used") {
  for (const bool wrong_length : {false, true}) {
    Pair pair;
    const auto data = pattern(100, 1);
    Completion sent, received, later;
    std::vector<std::byte> got(wrong_length ? 99 : 100, std::byte{7});
    const auto before = got;
    send(pair.from, data, 1, sent);
    recv(pair.to, got, wrong_length ? 1 : 2, received);
    while (pair.carry(SIZE_MAX) > 0) {
    }
    CHECK(received.finished);
    CHECK(received.status.code() == hcommMismatch);
    CHECK(got == before);
    recv(pair.to, got, 1, later);
    CHECK(later.finished);
    CHECK(later.status.code() == hcommMismatch);
  }
}

TEST_CASE("bytes from the wrong place of the stream may not arrive") {
  Pair pair;
  CHECK(pair.to.may_arrive(0, kWindowBytes));
  CHECK_FALSE(pair.to.may_arrive(0, kWindowBytes + 1));
  CHECK_FALSE(pair.to.may_arrive(1, 1));
  pair.to.deliver(pattern(10, 1));
  CHECK_FALSE(pair.to.may_arrive(0, 1));
  CHECK(pair.to.may_arrive(10, 1));
}

TEST_CASE("a lane that fails ends what is posted and what will be") {
  Pair pair;
  std::vector<std::byte> data(10);
  Completion before_send, before_recv, after_send, after_recv;
  send(pair.from, data, 0, before_send);
  recv(pair.from, data, 0, before_recv);
  pair.from.fail(hcommRemoteError, "cut");
  send(pair.from, data, 0, after_send);
  recv(pair.from, data, 0, after_recv);
  for (const Completion* each : {&before_send, &before_recv, &after_send, &after_recv}) {
    CHECK(each->finished);
    CHECK(each->status.code() == hcommRemoteError);
  }
}

}  // namespace hcomm
