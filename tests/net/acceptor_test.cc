// Who gets through, in a network in memory and in a time that moves when told to.
#include "net/acceptor.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "net/dialer.h"
#include "net/greeting.h"
#include "net/memory_network.h"
#include "net/recording_host.h"

namespace hcomm {
namespace {

const Address kDoor = parse_address("10.0.0.1:6000").value();

struct Scene {
  explicit Scene(std::size_t capacity = 1 << 16, const AcceptorLimits& limits = {}) : network(capacity) {
    acceptor = Acceptor::listen(network, kDoor, test_secret(), host, limits).value();
  }

  // A raw end, for those who are no hcomm.
  std::unique_ptr<Stream> stranger(std::string_view says = "") {
    std::unique_ptr<Stream> stream = network.connect(kDoor, nobody).value();
    network.dispatch();
    if (!says.empty()) say(*stream, as_bytes(says));
    return stream;
  }

  void say(Stream& stream, ConstBytes bytes) {
    CHECK(stream.write(std::span(&bytes, 1)).bytes == bytes.size());
    network.dispatch();
  }

  void turn(int times = 20) {
    for (int i = 0; i < times; ++i) network.dispatch();
  }

  void pass(TimeNs time) {
    network.wait(time);
    acceptor->expire(network.clock().now());
    turn();
  }

  MemoryNetwork network;
  RecordingHost host;
  CountingWatcher nobody;
  std::unique_ptr<Acceptor> acceptor;
};

// A whole dial, which is connected at the end or has failed.
std::unique_ptr<Dialer> dial(Scene& scene, const Claim& claim, int secret = 1) {
  auto dialer = std::make_unique<Dialer>(scene.network, test_secret(secret), claim, DialPlan{.addresses = {kDoor}}, scene.nobody);
  dialer->expire(scene.network.clock().now());
  scene.turn(2000);
  return dialer;
}

std::string read_all(Stream& stream) {
  std::array<std::byte, 1000> buffer{};
  const Bytes target = buffer;
  const IoResult result = stream.read(std::span(&target, 1));
  return std::string(reinterpret_cast<const char*>(buffer.data()), result.bytes);
}

}  // namespace

TEST_CASE("a holder of the secret arrives with its claim, and what follows is the host's, however little comes at once") {
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 16}) {
    Scene scene(capacity);
    const auto dialer = dial(scene, claim_of(5));
    REQUIRE(dialer->state() == Dialer::State::connected);
    REQUIRE(scene.host.guests.size() == 1);
    CHECK(scene.host.guests[0].first == claim_of(5));
    CHECK(scene.acceptor->under_way() == 0);
    CHECK(scene.acceptor->next_time() == kNever);
    const auto stream = dialer->take();
    scene.say(*stream, as_bytes("x"));
    CHECK(read_all(*scene.host.guests[0].second) == "x");
    scene.say(*scene.host.guests[0].second, as_bytes("y"));
    CHECK(read_all(*stream) == "y");
  }
}

TEST_CASE("whom the host refuses hears why; a duplicate is no reason for a line") {
  Scene scene;
  scene.host.verdict = Refusal::wrong_job;
  const auto dialer = dial(scene, claim_of(5));
  CHECK(dialer->state() == Dialer::State::failed);
  CHECK(dialer->refusal() == Refusal::wrong_job);
  CHECK(scene.host.guests.empty());
  CHECK(scene.acceptor->turned_away(Refusal::wrong_job) == 1);
  CHECK(scene.host.lines.size() == 1);
  scene.host.verdict = Refusal::duplicate;
  CHECK(dial(scene, claim_of(5))->refusal() == Refusal::duplicate);
  CHECK(scene.acceptor->turned_away() == 1);
}

TEST_CASE("a wrong secret is named on both sides and gets no judgement") {
  Scene scene;
  const auto dialer = dial(scene, claim_of(5), 2);
  CHECK(dialer->state() == Dialer::State::failed);
  CHECK_THAT(dialer->story(), Catch::Contains("10.0.0.1:6000: the secrets differ") && Catch::Contains("HCOMM_SECRET_FILE"));
  CHECK(scene.host.judged.empty());
  REQUIRE(scene.host.lines.size() == 1);
  CHECK_THAT(scene.host.lines[0],
             Catch::Contains("turned away 1 connection at 10.0.0.1:6000; the last from 10.0.0.9:9: the secrets differ"));
}

TEST_CASE("who says nothing, or too little, goes at the deadline and no earlier") {
  Scene scene;
  const auto silent = scene.stranger();
  const auto slow = scene.stranger("\x89");
  CHECK(scene.acceptor->under_way() == 2);
  CHECK(scene.acceptor->next_time() == kHandshakeDeadline);
  scene.pass(kHandshakeDeadline - 1);
  scene.say(*slow, as_bytes("h"));
  CHECK(scene.acceptor->under_way() == 2);
  scene.pass(1);
  CHECK(scene.acceptor->under_way() == 0);
  CHECK(scene.acceptor->turned_away() == 2);
  CHECK(scene.acceptor->turned_away(Refusal::none) == 2);
}

TEST_CASE("a proof that came while the acceptor was busy counts, though the time is over") {
  Scene scene;
  Handshake initiator = Handshake::initiator(test_secret(), claim_of(5));
  const auto stream = scene.stranger();
  const auto speak = [&] {
    const ConstBytes outgoing = initiator.outgoing();
    initiator.sent(stream->write(std::span(&outgoing, 1)).bytes);
  };
  speak();
  scene.turn();
  std::array<std::byte, 100> buffer{};
  while (initiator.outgoing().empty()) {
    const Bytes target = Bytes(buffer).first(initiator.wants());
    initiator.receive(ConstBytes(target).first(stream->read(std::span(&target, 1)).bytes));
  }
  speak();
  scene.network.wait(10 * kSecond);
  scene.acceptor->expire(scene.network.clock().now());
  CHECK(scene.host.guests.size() == 1);
}

TEST_CASE("one that goes away leaves nothing") {
  Scene scene;
  scene.stranger().reset();
  scene.stranger("\x89hc").reset();
  scene.turn();
  CHECK(scene.acceptor->under_way() == 0);
  CHECK(scene.acceptor->turned_away() == 2);
}

TEST_CASE("one that was let in and is lost before it arrives is told to the host") {
  Scene scene(40);
  Handshake initiator = Handshake::initiator(test_secret(), claim_of(5));
  auto stream = scene.stranger();
  const auto speak = [&] {
    const ConstBytes outgoing = initiator.outgoing();
    if (!outgoing.empty()) initiator.sent(stream->write(std::span(&outgoing, 1)).bytes);
  };
  while (initiator.wants() != 40) {  // until it awaits the verdict
    speak();
    scene.network.dispatch();
    std::array<std::byte, 100> buffer{};
    const Bytes target = Bytes(buffer).first(initiator.wants());
    initiator.receive(ConstBytes(target).first(stream->read(std::span(&target, 1)).bytes));
  }
  speak();
  scene.network.set_capacity(0);
  scene.turn();
  stream.reset();
  scene.turn();
  CHECK(scene.host.judged.size() == 1);
  CHECK(scene.host.guests.empty());
  CHECK(scene.host.gone == std::vector<Claim>{claim_of(5)});
}

TEST_CASE("when it is full the oldest has its grace and then makes room") {
  Scene scene(1 << 16, {.most = 4});
  std::vector<std::unique_ptr<Stream>> flood;
  for (int i = 0; i < 10; ++i) flood.push_back(scene.stranger());
  CHECK(scene.acceptor->under_way() == 4);
  CHECK(scene.acceptor->turned_away() == 0);
  CHECK(scene.acceptor->next_time() == 100 * kMillisecond);

  Dialer dialer(scene.network, test_secret(), claim_of(5), {.addresses = {kDoor}, .attempt = kNever}, scene.nobody);
  dialer.expire(0);
  scene.turn();
  CHECK(scene.host.guests.empty());
  scene.pass(100 * kMillisecond);
  CHECK(scene.acceptor->under_way() == 4);
  CHECK(scene.acceptor->turned_away(Refusal::full) == 4);
  for (int i = 0; i < 3; ++i) scene.pass(100 * kMillisecond);
  CHECK(scene.host.guests.size() == 1);
  CHECK(dialer.state() == Dialer::State::connected);
}

TEST_CASE("the lines about those turned away are few and short") {
  Scene scene;
  for (int i = 0; i < 1000; ++i) scene.stranger("GET / HTTP/1.1\r\nHost: node7\r\n");
  REQUIRE(scene.host.lines.size() == 1);
  CHECK_THAT(scene.host.lines[0], Catch::Contains("turned away 1 connection") && Catch::Contains("another program is there"));
  CHECK(scene.acceptor->turned_away(Refusal::malformed) == 1000);
  CHECK(scene.acceptor->next_time() == kReportInterval);
  scene.pass(kReportInterval);
  REQUIRE(scene.host.lines.size() == 2);
  CHECK_THAT(scene.host.lines[1], Catch::Contains("turned away 999 connections"));
  CHECK(scene.host.lines[1].size() < 300);
  scene.pass(kReportInterval);
  CHECK(scene.host.lines.size() == 2);
}

}  // namespace hcomm
