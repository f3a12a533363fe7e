#include "net/dialer.h"

#include <catch2/catch.hpp>

#include "net/memory_network.h"
#include "net/recording_host.h"

namespace hcomm {
namespace {

const Address kNobody = parse_address("10.0.0.1:1").value();
const Address kSwallows = parse_address("10.0.0.2:2").value();
const Address kRight = parse_address("10.0.0.3:3").value();
const Address kWrong = parse_address("172.17.0.1:4").value();

struct Scene {
  Scene() { network.swallow(kSwallows.port); }

  void open(const Address& address) { right = Acceptor::listen(network, address, test_secret(), host).value(); }

  Dialer& dial(DialPlan plan) {
    dialer = std::make_unique<Dialer>(network, test_secret(), claim_of(1, 2), std::move(plan), owner);
    pass(0);
    return *dialer;
  }

  void pass(TimeNs time) {
    network.wait(time);
    dialer->expire(network.clock().now());
    for (int i = 0; i < 20; ++i) network.dispatch();
  }

  MemoryNetwork network;
  RecordingHost host;
  std::unique_ptr<Acceptor> right;
  CountingWatcher owner;
  std::unique_ptr<Dialer> dialer;
};

}  // namespace

TEST_CASE("addresses are tried in turn until one lets it in, and its owner is told once") {
  Scene scene;
  scene.open(kRight);
  Dialer& dialer = scene.dial({.addresses = {kNobody, kSwallows, kRight}});
  CHECK(dialer.state() == Dialer::State::dialing);
  CHECK(dialer.next_time() == 5 * kSecond);
  CHECK_THAT(dialer.story(), Catch::Contains("10.0.0.1:1: connection refused; 10.0.0.2:2: nothing yet"));
  scene.pass(5 * kSecond);
  CHECK(dialer.state() == Dialer::State::connected);
  CHECK(scene.owner.times == 1);
  CHECK(dialer.next_time() == kNever);
  CHECK(dialer.take()->peer() == kRight);
  CHECK(scene.host.guests.size() == 1);
}

TEST_CASE("B052 an address where somebody else answers is left for the next one") {
  Scene scene;
  RecordingHost other;
  other.verdict = Refusal::wrong_job;  // such as a rank of this very host, behind an address that both hosts have
  const auto wrong = Acceptor::listen(scene.network, kWrong, test_secret(), other).value();
  scene.open(kRight);
  Dialer& dialer = scene.dial({.addresses = {kWrong, kRight}});
  CHECK(dialer.state() == Dialer::State::connected);
  CHECK(other.judged.size() == 1);
  CHECK(other.guests.empty());
  CHECK(scene.host.guests.size() == 1);
}

TEST_CASE("a failure names each address and why") {
  Scene scene;
  RecordingHost other;
  const auto wrong = Acceptor::listen(scene.network, kWrong, test_secret(2), other).value();
  Dialer& dialer = scene.dial({.addresses = {kNobody, kWrong}});
  CHECK(dialer.state() == Dialer::State::failed);
  CHECK(scene.owner.times == 1);
  const Status failure = dialer.failure();
  CHECK(failure.code() == hcommRemoteError);
  CHECK_THAT(std::string(failure.trail()), Catch::Contains("10.0.0.1:1: connection refused; 172.17.0.1:4: the secrets differ"));
}

TEST_CASE("where nobody listens yet a patient dialer tries again, with longer and longer pauses") {
  Scene scene;
  Dialer& dialer = scene.dial({.addresses = {kRight}, .keeps_trying = true});
  TimeNs pause = 20 * kMillisecond;
  for (int round = 0; round < 10; ++round) {
    CHECK(dialer.state() == Dialer::State::dialing);
    CHECK(dialer.next_time() - scene.network.clock().now() == pause);
    pause = std::min(2 * pause, kSecond);
    scene.pass(dialer.next_time() - scene.network.clock().now());
  }
  scene.open(kRight);
  scene.pass(kSecond);
  CHECK(dialer.state() == Dialer::State::connected);
}

TEST_CASE("B079 an address that swallows connections is named, and is tried again until the owner gives up") {
  Scene scene;
  Dialer& dialer = scene.dial({.addresses = {kSwallows}});
  for (int i = 0; i < 10; ++i) scene.pass(5 * kSecond);
  CHECK(dialer.state() == Dialer::State::dialing);
  CHECK_THAT(dialer.story(), Catch::Contains("10.0.0.2:2: no answer in time"));
}

TEST_CASE("where no address ever takes a connection, the dialer gives up after the time that it was given") {
  Scene scene;
  Dialer& dialer = scene.dial({.addresses = {kSwallows}, .unreachable_after = 12 * kSecond});
  scene.pass(5 * kSecond);
  scene.pass(20 * kMillisecond);
  scene.pass(5 * kSecond);
  CHECK(dialer.state() == Dialer::State::dialing);
  CHECK(dialer.next_time() == 10 * kSecond + 60 * kMillisecond);
  scene.pass(40 * kMillisecond);
  CHECK(dialer.next_time() == 12 * kSecond);
  scene.pass(2 * kSecond);
  CHECK(dialer.state() == Dialer::State::failed);
  CHECK(dialer.gave_up());
  CHECK(scene.owner.times == 1);
  CHECK_THAT(dialer.story(), Catch::Contains("10.0.0.2:2: no answer in time"));
}

TEST_CASE("one that is connected and hears nothing waits for as long as its owner likes") {
  Scene scene;
  CountingWatcher nobody;
  const auto listener = scene.network.listen(kRight, nobody).value();
  Dialer& dialer = scene.dial({.addresses = {kRight}});
  const auto busy = listener->accept(nobody);
  REQUIRE(busy != nullptr);
  for (int i = 0; i < 10; ++i) scene.pass(1000 * kSecond);
  CHECK(dialer.state() == Dialer::State::dialing);
  CHECK(dialer.next_time() == kNever);

  // Once it has begun to answer, it has to go on.
  const std::byte first{2};
  const ConstBytes bytes(&first, 1);
  busy->write(std::span(&bytes, 1));
  scene.pass(0);
  CHECK(dialer.next_time() == scene.network.clock().now() + kHandshakeDeadline);
  scene.pass(kHandshakeDeadline);
  CHECK_THAT(dialer.story(), Catch::Contains("10.0.0.3:3: it began to answer and did not go on"));
}

TEST_CASE("a connection that is lost before it is made is made again") {
  Scene scene;
  CountingWatcher nobody;
  auto listener = scene.network.listen(kRight, nobody).value();
  Dialer& dialer = scene.dial({.addresses = {kRight}});
  auto stream = listener->accept(nobody);
  scene.pass(0);
  stream.reset();
  scene.pass(0);
  CHECK(dialer.state() == Dialer::State::dialing);
  listener.reset();
  scene.open(kRight);
  scene.pass(kSecond);
  CHECK(dialer.state() == Dialer::State::connected);
}

TEST_CASE("B085 a duplicate ends the dial: the other end's connection is there already") {
  Scene scene;
  scene.open(kRight);
  scene.host.verdict = Refusal::duplicate;
  Dialer& dialer = scene.dial({.addresses = {kRight, kSwallows}});
  CHECK(dialer.state() == Dialer::State::failed);
  CHECK(dialer.refusal() == Refusal::duplicate);
}

TEST_CASE("an owner may destroy its dialer when it is told") {
  Scene scene;
  scene.owner.then = [&] { scene.dialer.reset(); };
  const DialPlan plan{.addresses = {kNobody}};
  scene.dialer = std::make_unique<Dialer>(scene.network, test_secret(), claim_of(1, 2), plan, scene.owner);
  scene.dialer->expire(0);
  for (int i = 0; i < 3; ++i) scene.network.dispatch();
  CHECK(scene.dialer == nullptr);
}

}  // namespace hcomm
