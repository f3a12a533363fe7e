// A listener on a real network that is fed what strangers send, while a right connection is to get through. None of these waits
// for a deadline: time is an argument.
#include <catch2/catch.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "net/acceptor.h"
#include "net/dialer.h"
#include "net/kernel_network.h"
#include "net/recording_host.h"
#include "net/rig.h"

namespace hcomm {
namespace {

struct Scene {
  explicit Scene(const AcceptorLimits& limits = {}) {
    network = KernelNetwork::open().value();
    acceptor = Acceptor::listen(*network, loopback_address(), test_secret(), host, limits).value();
  }

  std::unique_ptr<Stream> stranger() { return network->connect(acceptor->address(), nobody).value(); }

  std::unique_ptr<Stream> stranger_that_says(ConstBytes bytes) {
    auto stream = stranger();
    REQUIRE(turn_until(*network, [&] { return stream->connected(); }));
    stream->write(std::span(&bytes, 1));
    return stream;
  }

  // Dials until it is let in.
  void let_the_right_one_in() {
    Dialer dialer(*network, test_secret(), claim_of(5), {.addresses = {acceptor->address()}}, nobody);
    const std::size_t before = host.guests.size();
    CHECK(turn_until(*network, [&] {
      dialer.expire(network->clock().now());
      acceptor->expire(network->clock().now());
      most_under_way = std::max(most_under_way, acceptor->under_way());
      return dialer.state() == Dialer::State::connected && host.guests.size() == before + 1;
    }));
    CHECK(host.guests.back().first == claim_of(5));
  }

  void wait_for_turned_away(std::uint64_t count) {
    CHECK(turn_until(*network, [&] { return acceptor->turned_away() >= count; }));
  }

  std::unique_ptr<KernelNetwork> network;
  RecordingHost host;
  CountingWatcher nobody;
  std::unique_ptr<Acceptor> acceptor;
  std::size_t most_under_way = 0;
};

std::vector<std::byte> hello_of(int secret) {
  const Handshake initiator = Handshake::initiator(test_secret(secret), claim_of(5));
  return {initiator.outgoing().begin(), initiator.outgoing().end()};
}

std::size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident;
}

}  // namespace

TEST_CASE("garbage is turned away, of any length") {
  Scene scene;
  std::vector<std::unique_ptr<Stream>> strangers;
  for (const std::size_t length : {std::size_t{16}, std::size_t{17}, std::size_t{1000}, std::size_t{100'000}}) {
    const std::vector<std::byte> garbage(length, std::byte{0xab});
    strangers.push_back(scene.stranger_that_says(garbage));
  }
  scene.wait_for_turned_away(4);
  CHECK(scene.acceptor->turned_away(Refusal::malformed) == 4);
  scene.let_the_right_one_in();
  CHECK(scene.host.judged.size() == 1);
}

TEST_CASE("lengths of 4 GiB size nothing") {
  Scene scene;
  const std::vector<std::byte> ones(4096, std::byte{0xff});
  const std::size_t before = resident_pages();
  std::vector<std::unique_ptr<Stream>> strangers;
  for (int i = 0; i < 20; ++i) {
    std::vector<std::byte> message = hello_of(1);
    if (i % 2 == 0) message.clear();
    message.insert(message.end(), ones.begin(), ones.end());  // lengths, if there were any
    strangers.push_back(scene.stranger_that_says(message));
  }
  scene.wait_for_turned_away(20);
  CHECK(resident_pages() < before + 1000);  // 4 MB
  scene.let_the_right_one_in();
}

TEST_CASE("a right hello with a wrong code is named a wrong secret") {
  Scene scene;
  std::vector<std::byte> message = hello_of(1);
  const std::array<std::byte, 4> header = {std::byte{3}, std::byte{0}, std::byte{1}, std::byte{0}};
  message.insert(message.end(), header.begin(), header.end());
  message.resize(72 + 40, std::byte{0});
  message.back() = std::byte{1};
  const auto stream = scene.stranger_that_says(message);
  scene.wait_for_turned_away(1);
  CHECK(scene.acceptor->turned_away(Refusal::wrong_secret) == 1);
  CHECK(scene.host.judged.empty());
  scene.let_the_right_one_in();
}

TEST_CASE("what was recorded of a right connection opens no other") {
  Scene scene;
  Handshake initiator = Handshake::initiator(test_secret(), claim_of(5));
  std::vector<std::byte> recorded;
  const auto stream = scene.stranger();
  REQUIRE(turn_until(*scene.network, [&] {
    const ConstBytes outgoing = initiator.outgoing();
    if (!outgoing.empty()) {
      const std::size_t sent = stream->write(std::span(&outgoing, 1)).bytes;
      recorded.insert(recorded.end(), outgoing.begin(), outgoing.begin() + static_cast<std::ptrdiff_t>(sent));
      initiator.sent(sent);
    }
    std::array<std::byte, 128> buffer{};
    const Bytes target = Bytes(buffer).first(initiator.wants());
    if (!target.empty()) initiator.receive(ConstBytes(target).first(stream->read(std::span(&target, 1)).bytes));
    return initiator.state() == Handshake::State::done;
  }));
  REQUIRE(turn_until(*scene.network, [&] { return scene.host.guests.size() == 1; }));
  const auto replay = scene.stranger_that_says(recorded);
  scene.wait_for_turned_away(1);
  CHECK(scene.acceptor->turned_away(Refusal::wrong_secret) == 1);
  CHECK(scene.host.guests.size() == 1);
  scene.let_the_right_one_in();
}

TEST_CASE("one byte at a time is too slow, and holds up nobody") {
  Scene scene;
  const auto slow = scene.stranger();
  const std::vector<std::byte> hello = hello_of(1);
  TimeNs now = scene.network->clock().now();
  for (std::size_t at = 0; at < 3; ++at) {
    const ConstBytes byte = ConstBytes(hello).subspan(at, 1);
    REQUIRE(turn_until(*scene.network, [&] { return slow->write(std::span(&byte, 1)).state == Io::moved; }));
    scene.let_the_right_one_in();
    now += kSecond;
    if (at < 2) CHECK(scene.acceptor->turned_away() == 0);
    scene.acceptor->expire(now);
  }
  CHECK(scene.acceptor->turned_away(Refusal::none) == 1);
  CHECK(scene.acceptor->under_way() == 0);
}

TEST_CASE("who closes at any byte of its hello leaves nothing") {
  Scene scene;
  const std::vector<std::byte> hello = hello_of(1);
  for (std::size_t length = 0; length <= hello.size(); length += 8) {
    scene.stranger_that_says(ConstBytes(hello).first(length));  // and is gone
  }
  scene.wait_for_turned_away(10);
  CHECK(turn_until(*scene.network, [&] { return scene.acceptor->under_way() == 0; }));
  scene.let_the_right_one_in();
}

TEST_CASE("a thousand silent connections at once delay a right one, and do not keep it out") {
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const rlimit before = descriptors;
  descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 4096);
  REQUIRE(descriptors.rlim_cur >= 2000);
  setrlimit(RLIMIT_NOFILE, &descriptors);
  {
    Scene scene({.grace = kMillisecond});
    std::vector<std::unique_ptr<Stream>> flood;
    for (int i = 0; i < 1000; ++i) flood.push_back(scene.stranger());
    const std::size_t pages = resident_pages();
    scene.let_the_right_one_in();
    CHECK(scene.most_under_way <= 128);
    CHECK(scene.most_under_way > 64);
    CHECK(resident_pages() < pages + 1000);  // 4 MB
    CHECK(scene.host.lines.size() <= 1);
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace hcomm
