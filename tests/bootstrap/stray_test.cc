// Goal: nothing that a stray does at the socket harms a meeting. Method: raw connections that lie, stall or leave.
#include "bootstrap/socket.h"

#include <catch2/catch.hpp>

#include "base/random.h"
#include "bootstrap/message.h"
#include "rig.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

Descriptor raw_connection(const Served& served) {
  Visit made;
  REQUIRE(eventually([&] {
    made = visit(served.id).value();
    return made.knock == Knock::answered;
  }));
  return std::move(made.socket);
}

// What the coordinator says to this packet; empty when it just closes.
std::string answer_to(const Served& served, ConstBytes packet) {
  const Descriptor socket = raw_connection(served);
  REQUIRE(send_packet(socket, packet) == Sent::yes);
  std::array<std::byte, kMaxMessageBytes + 1> buffer;
  Packet answer;
  REQUIRE(eventually([&] {
    answer = receive_packet(socket, buffer);
    return answer.state != Received::nothing;
  }));
  if (answer.state != Received::packet) return {};
  return parse_answer(answer.bytes).value().text;
}

std::vector<std::byte> hello_bytes(const JobId& id, int rank, int ranks) {
  return to_bytes(Hello{.rank = rank, .ranks = ranks, .facts = own_facts()}, id.secret);
}

void check_still_well(const Served& served, int ranks = 2) {
  for (const Outcome& outcome : join_all(served.id, team(ranks))) {
    INFO(outcome.text);
    CHECK(outcome.code == hcommSuccess);
  }
}

TEST_CASE("connections that close after 0, 1, 4 or 7 bytes are dropped") {
  Served served = serve();
  const std::vector<std::byte> start = hello_bytes(served.id, 0, 2);
  for (const std::size_t size : {0ul, 1ul, 4ul, 7ul}) {
    const Descriptor socket = raw_connection(served);
    if (size > 0) CHECK(send_packet(socket, ConstBytes(start).first(size)) == Sent::yes);
  }
  check_still_well(served);
}

TEST_CASE("200 strays, some of which stay, neither block a meeting nor flood the log") {
  Served served = serve({.hello_timeout_ns = 200 * kMillisecond});
  std::vector<Descriptor> staying;
  for (int i = 0; i < 200; ++i) {
    Descriptor socket = raw_connection(served);
    if (i % 2 == 0) staying.push_back(std::move(socket));
  }
  check_still_well(served);
  CHECK(eventually([&] { return served.coordinator->finished(); }));
  CHECK(served.warnings->load() >= 1);
  CHECK(served.warnings->load() <= 6);
}

TEST_CASE("more silent connections than are allowed at once only delay a meeting") {
  Served served = serve({.hello_timeout_ns = 100 * kMillisecond});
  std::vector<Descriptor> silent;
  for (int i = 0; i < 600; ++i) silent.push_back(raw_connection(served));
  check_still_well(served);
}

TEST_CASE("random bytes get no answer") {
  Served served = serve();
  Random random(7);
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<std::byte> noise(1 + random.below(kMaxMessageBytes));
    for (std::byte& value : noise) value = static_cast<std::byte>(random.next());
    CHECK(answer_to(served, noise).empty());
  }
  check_still_well(served);
}

TEST_CASE("a wrong secret is refused with its reason and harms nobody") {
  Served served = serve();
  JobId wrong = served.id;
  wrong.secret[31] ^= std::byte{1};
  const Outcome refused = join_once(wrong, team(2)[0]);
  CHECK(refused.code == hcommInvalidArgument);
  CHECK_THAT(refused.text, Contains("secret is wrong"));
  check_still_well(served);
}

TEST_CASE("mutated hellos with the right secret are refused or judged, never harmful") {
  Served served = serve({.ranks = 2, .many_rounds = true, .hello_timeout_ns = 300 * kMillisecond});
  const std::vector<std::byte> good = hello_bytes(served.id, 0, 2);
  Random random(11);
  for (int turn = 0; turn < 500; ++turn) {
    std::vector<std::byte> spoiled = good;
    // After the secret; never in the round's low bytes, so that round 0 stays the check's own.
    spoiled[48 + 1 + random.below(40)] = static_cast<std::byte>(random.next() | 1);
    const Descriptor socket = raw_connection(served);
    CHECK(send_packet(socket, spoiled) == Sent::yes);
  }
  for (std::uint64_t round = 300; round < 310; ++round) {
    for (const Outcome& outcome : join_all(served.id, team(2, 20 * kSecond, round))) {
      INFO(outcome.text);
      CHECK(outcome.code == hcommSuccess);
    }
  }
}

TEST_CASE("another version of the protocol is named to the newcomer and to who waits") {
  Served served = serve();
  std::vector<std::byte> other = hello_bytes(served.id, 1, 2);
  other[8] = std::byte{99};
  CHECK_THAT(answer_to(served, other), Contains("version 99") && Contains("version " + std::to_string(kProtocolVersion)));
}

TEST_CASE("ranks out of range are judged by the coordinator too") {
  for (const int rank : {-1, 2, INT32_MAX, INT32_MIN}) {
    Served served = serve();
    CHECK_THAT(answer_to(served, hello_bytes(served.id, rank, 2)), Contains("out of range"));
    check_still_well(served);
  }
  for (const int ranks : {0, -1, INT32_MAX, INT32_MIN}) {
    Served served = serve();
    CHECK_THAT(answer_to(served, hello_bytes(served.id, 0, ranks)), Contains("legal are 1 to 4096"));
    check_still_well(served);
  }
}

TEST_CASE("descriptors that a stray sends along are closed") {
  Served served = serve();
  const int before = open_descriptors();
  for (int turn = 0; turn < 50; ++turn) {
    const Descriptor socket = raw_connection(served);
    const std::array own = {0, 1};
    const std::byte noise{1};
    send_packet(socket, {&noise, 1}, own);
  }
  CHECK(eventually([&] { return open_descriptors() == before; }));
}

TEST_CASE("sealed memory holds what was put in and can be told from memory that may change") {
  const std::array contents = {std::byte{1}, std::byte{2}, std::byte{3}};
  const Descriptor file = sealed_memory(contents).value();
  CHECK(read_sealed(file, 3).value() == std::vector<std::byte>(contents.begin(), contents.end()));
  CHECK_FALSE(read_sealed(file, 2).ok());
  CHECK_FALSE(read_sealed(file, 4).ok());
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  CHECK_FALSE(read_sealed(reader, 3).ok());
}

}  // namespace
}  // namespace hcomm
