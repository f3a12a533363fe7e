// Goal: nothing that a holder of the secret says over the network harms a meeting, and nobody else is heard. Method: lines that
// go through the handshake and then lie; raw connections that do not.
#include "bootstrap/approach.h"

#include <catch2/catch.hpp>
#include <thread>

#include "base/random.h"
#include "bootstrap/facts.h"
#include "bootstrap/handout.h"
#include "bootstrap/tcp_door.h"
#include "bootstrap/unix_door.h"
#include "rig.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

class Guest {
 public:
  Guest(const Served& served, int rank) : approach_(*network_, nullptr, served.id, {.rank = rank, .ranks = 2}) {
    REQUIRE(eventually([&] {
      turn();
      line_ = approach_.step().value();
      return line_ != nullptr;
    }));
  }

  void say(ConstBytes message) { CHECK(line_->send(message) == Sent::yes); }
  // What the coordinator answers; "" when it just closes.
  std::string answer() {
    std::string text;
    REQUIRE(eventually([&] {
      turn();
      const Packet packet = line_->receive({});
      if (packet.state == Received::packet) text = parse_answer(packet.bytes).value().text;
      return packet.state != Received::nothing;
    }));
    return text;
  }

 private:
  void turn() {
    network_->wait(kMillisecond);
    network_->dispatch();
  }

  std::unique_ptr<KernelNetwork> network_ = KernelNetwork::open().value();
  Approach approach_;
  std::unique_ptr<Line> line_;
};

Served serve_tcp(CoordinatorOptions options = {}) {
  options.listen_at = {loopback()};
  return serve(std::move(options));
}

std::vector<std::byte> hello_of(int rank, int ranks) {
  return to_bytes(Hello{.rank = rank, .ranks = ranks, .facts = own_facts(), .meets_at = {}, .agreement = ""}, JobId{}.secret);
}

void check_still_well(const Served& served) {
  Keeper keeper;
  for (const Outcome& outcome : join_all(served.id, team_on_hosts({"a", "b"}, keeper))) {
    INFO(outcome.text);
    CHECK(outcome.code == hcommSuccess);
  }
}

TEST_CASE("garbage after the handshake, and giant lengths, close the connection alone") {
  Served served = serve_tcp();
  Random random(3);
  for (int turn = 0; turn < 20; ++turn) {
    Guest guest(served, 0);
    std::vector<std::byte> noise(1 + random.below(kMaxMessageBytes));
    for (std::byte& value : noise) value = static_cast<std::byte>(random.next());
    guest.say(noise);
    CHECK(guest.answer().empty());
  }
  Guest giant(served, 1);
  giant.say(std::vector<std::byte>(kMaxMessageBytes + 1));
  CHECK(giant.answer().empty());
  check_still_well(served);
}

TEST_CASE("over the network, too, a rank out of range or one too many is refused alone") {
  Served served = serve_tcp();
  for (const int rank : {2, INT32_MAX}) {
    Guest guest(served, rank);
    guest.say(hello_of(rank, 2));
    CHECK_THAT(guest.answer(), Contains("out of range"));
  }
  Keeper keeper;
  Outcome first;
  std::atomic<bool> arrived{false};
  JoinOptions original = team_on_hosts({"a", "b"}, keeper)[0];
  original.progress_every_ns = 5 * kMillisecond;
  original.progress = [&](std::string_view) { arrived = true; };
  std::thread waiting([&] { first = join_once(served.id, original); });
  CHECK(eventually([&] { return arrived.load(); }));
  Guest second(served, 0);
  second.say(hello_of(0, 2));
  CHECK_THAT(second.answer(), Contains("rank 0 has joined already"));
  CHECK(join_once(served.id, team_on_hosts({"a", "b"}, keeper)[1]).code == hcommSuccess);
  waiting.join();
  CHECK(first.code == hcommSuccess);
}

TEST_CASE("a connection speaks for the rank that it has claimed") {
  Served served = serve_tcp();
  Guest guest(served, 1);
  guest.say(hello_of(0, 2));
  CHECK_THAT(guest.answer(), Contains("connection of rank 1") && Contains("speaks for rank 0"));
  check_still_well(served);
}

TEST_CASE("whoever settles before it has a route is lost") {
  Served served = serve_tcp({.ranks = 2, .many_rounds = true});
  Guest guest(served, 0);
  guest.say(hello_of(0, 2));
  CHECK(guest.answer().empty());  // empty news: it has arrived
  guest.say(to_bytes(Ask{.kind = AskKind::settled}));
  CHECK_THAT(guest.answer(), Contains("rank 0") && Contains("left before all ranks had arrived"));
}

TEST_CASE("a rank that ends between the welcome and the table ends the meeting for all, by name") {
  Keeper keeper;
  Served served = serve_tcp();
  std::vector<JoinOptions> options = team_on_hosts({"a", "b"}, keeper);
  Outcome survivor;
  std::thread waiting([&] { survivor = join_once(served.id, options[0]); });
  {
    Guest victim(served, 1);
    victim.say(hello_of(1, 2));
    CHECK(victim.answer().empty());  // the welcome
  }
  waiting.join();
  CHECK(survivor.code == hcommRemoteError);
  CHECK_THAT(survivor.text, Contains("rank 1 (pid") && Contains("left before all ranks had met"));
  CHECK(survivor.took_ns < 5 * kSecond);
}

TEST_CASE("a rank that never settles is named when the time is up") {
  Keeper keeper;
  Served served = serve_tcp();
  std::vector<JoinOptions> options = team_on_hosts({"a", "b"}, keeper, 300 * kMillisecond);
  Outcome survivor;
  std::thread waiting([&] { survivor = join_once(served.id, options[0]); });
  Guest silent(served, 1);
  silent.say(hello_of(1, 2));
  waiting.join();
  CHECK(survivor.code == hcommTimeout);
  CHECK_THAT(survivor.text, Contains("2 of 2 ranks arrived") && Contains("no table of members or no segment: 1"));
}

TEST_CASE("300 connections that say nothing, and some that stay, only delay a meeting") {
  Served served = serve_tcp();
  class : public Watcher {
    void ready() override {}
  } nobody;
  const std::unique_ptr<KernelNetwork> network = KernelNetwork::open().value();
  std::vector<std::unique_ptr<Stream>> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(network->connect(served.id.at[0], nobody).value());
  check_still_well(served);
}

TEST_CASE("another job's rank is refused at the same address") {
  Served served = serve_tcp();
  JobId other = served.id;
  other.name[0] ^= std::byte{1};
  Keeper keeper;
  const Outcome refused = join_once(other, team_on_hosts({"a", "b"}, keeper)[0]);
  CHECK(refused.code == hcommRemoteError);
  CHECK(refused.took_ns < 5 * kSecond);
  check_still_well(served);
}

}  // namespace
}  // namespace hcomm
