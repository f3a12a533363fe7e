// Goal: no bytes of a peer do harm. Method: round trips, each field spoiled by hand, and seeded random mutations.
#include "bootstrap/message.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "base/random.h"
#include "bootstrap/facts.h"
#include "bootstrap/wire.h"

namespace hcomm {
namespace {

using Wire = std::vector<std::byte>;

Address some_address(std::uint16_t port) {
  return {.family = Family::inet, .port = port, .bytes = {std::byte{10}, std::byte{0}, std::byte{0}, std::byte{9}}};
}

Facts some_facts() {
  Facts facts = own_facts();
  facts.host = host_id("somewhere");
  facts.addresses = {some_address(60000), {.family = Family::inet6, .port = 1, .bytes = host_id("any")}};
  facts.cores = {.machine = host_id("a machine"), .quota = 3, .mask = {0xff00, 1}};
  facts.store = 2;
  return facts;
}

Hello some_hello() {
  return {.round = 7, .rank = 2, .ranks = 4, .facts = some_facts(), .agreement = "HCOMM_ALGO=ring;HCOMM_SLOTS=2"};
}

template <class Value>
Wire with(Wire bytes, std::size_t at, Value value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

// Offsets in a hello: prefix 16, secret 32, round 8, rank 4, ranks 4, facts 258, addresses 77, length 2, text.
constexpr std::size_t kRankAt = 56;
constexpr std::size_t kFactsAt = 64;
constexpr std::size_t kAddressCountAt = kFactsAt + 32;
constexpr std::size_t kLengthAt = kFactsAt + 258 + 1 + 4 * 19;

TEST_CASE("messages survive their bytes") {
  const JobId id = make_job_id().value();
  const Wire wire = to_bytes(some_hello(), id.secret);
  const Hello hello = parse_hello(wire).value();
  CHECK(hello.round == 7);
  CHECK(hello.rank == 2);
  CHECK(hello.ranks == 4);
  CHECK(hello.facts == some_facts());
  CHECK(hello.agreement == some_hello().agreement);
  CHECK(parse_opening(wire).value().secret == id.secret);

  const Ask ask = parse_ask(to_bytes(Ask{AskKind::give_up, 3 * kSecond})).value();
  CHECK(ask.kind == AskKind::give_up);
  CHECK(ask.timeout_ns == 3 * kSecond);

  const Answer refusal = parse_answer(to_bytes(Answer{AnswerKind::refusal, hcommTimeout, 0, 0, "2 is missing"})).value();
  CHECK(refusal.code == hcommTimeout);
  CHECK(refusal.text == "2 is missing");
  const Answer welcome = parse_answer(to_bytes(Answer{AnswerKind::welcome, hcommSuccess, 4, 9, ""})).value();
  CHECK(welcome.ranks == 4);
  CHECK(welcome.context == 9);

  const std::vector<Member> members = {{own_facts(), 0}, {some_facts(), 77}};
  CHECK(parse_members(to_bytes(members), 2).value() == members);
}

TEST_CASE("lengths and fields that lie are refused before they are used") {
  const Wire wire = to_bytes(some_hello(), JobId{}.secret);
  for (const std::uint16_t length : {std::uint16_t{kMaxAgreementBytes + 1}, std::uint16_t{0xffff}, std::uint16_t{0}}) {
    CHECK_FALSE(parse_hello(with(wire, kLengthAt, length)).ok());
  }
  for (const int count : {0, 1, 3, 5, 255}) {
    CHECK_FALSE(parse_hello(with(wire, kAddressCountAt, static_cast<std::uint8_t>(count))).ok());
  }
  for (const int family : {0, 1, 5, 255}) {
    CHECK_FALSE(parse_hello(with(wire, kAddressCountAt + 1, static_cast<std::uint8_t>(family))).ok());
  }
  CHECK_FALSE(parse_hello(with(wire, 0, std::uint64_t{0})).ok());                 // magic
  CHECK_FALSE(parse_hello(with(wire, 8, kProtocolVersion + 1)).ok());             // version
  CHECK_FALSE(parse_hello(with(wire, 12, std::uint32_t{5})).ok());                // kind
  CHECK_FALSE(parse_hello(with(wire, kFactsAt, std::int32_t{0})).ok());           // pid
  CHECK(parse_hello(with(wire, kRankAt, std::int32_t{-1})).value().rank == -1);   // judged where the size is known
  Wire longer = wire;
  longer.push_back(std::byte{0});
  CHECK_FALSE(parse_hello(longer).ok());
  for (std::size_t size = 0; size < wire.size(); ++size) CHECK_FALSE(parse_hello(ConstBytes(wire).first(size)).ok());
  for (std::size_t size = 0; size < 48; ++size) CHECK_FALSE(parse_opening(ConstBytes(wire).first(size)).ok());
}

TEST_CASE("answers and tables that lie are refused") {
  const Wire welcome = to_bytes(Answer{AnswerKind::welcome, hcommSuccess, 4, 9, ""});
  for (const std::int32_t ranks : {0, -1, kMaxMeetingRanks + 1, INT32_MIN, INT32_MAX}) {
    CHECK_FALSE(parse_answer(with(welcome, 20, ranks)).ok());
    CHECK_FALSE(parse_members(Wire(64), ranks).ok());
  }
  CHECK_FALSE(parse_answer(with(welcome, 16, std::int32_t{hcommTimeout})).ok());
  const Wire refusal = to_bytes(Answer{AnswerKind::refusal, hcommTimeout, 0, 0, "no"});
  CHECK_FALSE(parse_answer(with(refusal, 16, std::int32_t{0})).ok());
  CHECK_FALSE(parse_answer(with(refusal, 16, std::int32_t{1000})).ok());
  CHECK_FALSE(parse_answer(with(refusal, 32, std::uint16_t{kMaxAnswerText + 1})).ok());
  CHECK_FALSE(parse_ask(with(to_bytes(Ask{}), 16, std::int64_t{-1})).ok());
  const Wire table = to_bytes(std::vector<Member>{{own_facts(), 1}, {own_facts(), 2}});
  CHECK_FALSE(parse_members(table, 1).ok());
  CHECK_FALSE(parse_members(table, 3).ok());
  CHECK_FALSE(parse_members(with(table, member_table_bytes(1) - 4, std::int32_t{-5}), 2).ok());
}

TEST_CASE("texts are cut to their room and made printable") {
  const Answer cut = parse_answer(to_bytes(Answer{AnswerKind::news, hcommSuccess, 0, 0, std::string(9000, 'x')})).value();
  CHECK(cut.text == std::string(kMaxAnswerText, 'x'));
  CHECK(printable("a\x1b[31m\n\xff") == "a?[31m??");
}

TEST_CASE("messages have the same bytes on every machine") {
  Writer writer;
  writer.number(std::uint32_t{0x01020304});
  writer.number(std::int16_t{-2});
  writer.text("ab", 1);
  writer.address(some_address(0x1234));
  const Wire wire = std::move(writer).take();
  REQUIRE(wire.size() == 4 + 2 + 3 + kWireAddressBytes);
  const Wire expected = {std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}, std::byte{0xfe}, std::byte{0xff}, std::byte{1},
                         std::byte{0}, std::byte{'a'}, std::byte{4}, std::byte{0x34}, std::byte{0x12}, std::byte{10}};
  CHECK(Wire(wire.begin(), wire.begin() + 13) == expected);
  Reader reader(wire);
  CHECK(reader.number<std::uint32_t>() == 0x01020304);
  CHECK(reader.number<std::int16_t>() == -2);
  CHECK(reader.text(1) == "a");
  CHECK(reader.good());
  CHECK_FALSE(reader.done());
}

TEST_CASE("ranks of one host are one group, the same for each of them") {
  std::vector<Member> members(5);
  members[1].facts.host = members[4].facts.host = host_id("b");
  members[3].facts.host = host_id("c");
  CHECK(local_group(members, 0) == std::vector{0, 2});
  CHECK(local_group(members, 2) == std::vector{0, 2});
  CHECK(local_group(members, 1) == std::vector{1, 4});
  CHECK(local_group(members, 3) == std::vector{3});
}

TEST_CASE("ten thousand mutated messages are parsed or refused, and never crash") {
  const std::vector<Wire> originals = {to_bytes(some_hello(), JobId{}.secret), to_bytes(Ask{}),
                                       to_bytes(Answer{AnswerKind::welcome, hcommSuccess, 4, 0, ""})};
  Random random(1);
  int parsed = 0;
  for (int turn = 0; turn < 10'000; ++turn) {
    Wire spoiled = originals[random.below(originals.size())];
    for (std::uint64_t change = random.below(4); change > 0; --change) {
      spoiled[random.below(std::min<std::size_t>(spoiled.size(), 96))] = static_cast<std::byte>(random.next());
    }
    if (random.below(4) == 0) spoiled.resize(random.below(spoiled.size() + 1));
    parsed += parse_hello(spoiled).ok() + parse_ask(spoiled).ok() + parse_answer(spoiled).ok();
    if (const Result<Hello> hello = parse_hello(spoiled); hello.ok())
      REQUIRE(hello.value().agreement.size() <= kMaxAgreementBytes);
    if (const Result<Answer> answer = parse_answer(spoiled); answer.ok()) REQUIRE(answer.value().text.size() <= kMaxAnswerText);
  }
  CHECK(parsed > 1000);
  CHECK(parsed < 10'000);
}

}  // namespace
}  // namespace hcomm
