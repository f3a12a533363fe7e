#include "bootstrap/round.h"

#include <catch2/catch.hpp>

#include "bootstrap/ledger.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

Hello hello_of(int rank, int ranks, std::string agreement = "", std::uint64_t round = 0) {
  return {.round = round, .rank = rank, .ranks = ranks, .facts = {.pid = 100 + rank % 10'000}, .agreement = std::move(agreement)};
}

std::string trail(const Status& status) { return std::string(status.trail()); }

TEST_CASE("a round is complete when each rank has arrived once") {
  Round round(3);
  for (const int rank : {2, 0, 1}) {
    CHECK_FALSE(round.complete());
    CHECK(round.admit(hello_of(rank, 3), {.connection = 10 + rank}).status.ok());
  }
  CHECK(round.complete());
  CHECK(round.connections() == std::vector{12, 11, 10});
  CHECK(round.members()[2].facts.pid == 102);
}

TEST_CASE("a second process of a rank is refused alone, with both pids") {
  Round round(2);
  REQUIRE(round.admit(hello_of(1, 2), {.connection = 0}).status.ok());
  Hello second = hello_of(1, 2);
  second.facts.pid = 555;
  const Admission refused = round.admit(second, {.connection = 1});
  CHECK(refused.status.code() == hcommInvalidUsage);
  CHECK_FALSE(refused.ends_the_round);
  CHECK_THAT(trail(refused.status), Contains("rank 1") && Contains("101") && Contains("555"));
}

TEST_CASE("ranks out of range are refused alone") {
  Round round(2);
  for (const int rank : {-1, 2, INT32_MIN, INT32_MAX}) {
    const Admission refused = round.admit(hello_of(rank, 2), {.connection = 0});
    CHECK(refused.status.code() == hcommInvalidArgument);
    CHECK_FALSE(refused.ends_the_round);
    CHECK_THAT(trail(refused.status), Contains(std::to_string(rank)) && Contains("0 to 1"));
  }
}

TEST_CASE("sizes that differ end the round and are both named") {
  Round round(3);
  const Admission refused = round.admit(hello_of(3, 4), {.connection = 0});
  CHECK(refused.status.code() == hcommMismatch);
  CHECK(refused.ends_the_round);
  CHECK_THAT(trail(refused.status), Contains("rank 3") && Contains("says 4") && Contains("others 3"));
}

TEST_CASE("who contradicts is kept with those that have come, and rank 0 answered last") {
  Round round(4);
  for (const int rank : {3, 1}) REQUIRE(round.admit(hello_of(rank, 4), {.connection = 10 + rank}).status.ok());
  CHECK_FALSE(round.is_condemned());
  round.condemn(hcommMismatch, "the first reason", 0, 20);
  CHECK_FALSE(round.all_have_come());
  round.condemn(hcommMismatch, "another", 2, 22);
  CHECK(round.all_have_come());
  CHECK_FALSE(round.complete());
  CHECK_THAT(trail(round.condemned()), Contains("the first reason"));
  CHECK(round.connections() == std::vector{22, 13, 11, 20});
}

TEST_CASE("settings that differ end the round and are named with both values and ranks") {
  Round round(2);
  REQUIRE(round.admit(hello_of(0, 2, "HCOMM_ALGO=ring;HCOMM_SLOTS=2"), {.connection = 0}).status.ok());
  const Admission refused = round.admit(hello_of(1, 2, "HCOMM_ALGO=ring;HCOMM_SLOTS=1"), {.connection = 1});
  CHECK(refused.status.code() == hcommMismatch);
  CHECK(refused.ends_the_round);
  CHECK_THAT(trail(refused.status), Contains("HCOMM_SLOTS is '2' on rank 0 and '1' on rank 1"));
}

TEST_CASE("a disagreement is found where values hold separators and where a knob is missing") {
  CHECK(disagreement("HCOMM_A=1", 0, "HCOMM_A=1", 1).empty());
  CHECK(disagreement("HCOMM_ALGO=level0:NA;level1:ring;HCOMM_B=1", 0, "HCOMM_ALGO=level0:NA;level1:tree;HCOMM_B=1", 3) ==
        "HCOMM_ALGO is 'level0:NA;level1:ring' on rank 0 and 'level0:NA;level1:tree' on rank 3");
  CHECK(disagreement("HCOMM_A=1;HCOMM_B=2", 0, "HCOMM_A=1", 1) == "HCOMM_B is '2' on rank 0 and unset on rank 1");
  CHECK_FALSE(disagreement("HCOMM_A=1;", 0, "HCOMM_A=1", 1).empty());
}

TEST_CASE("missing ranks are listed in ranges, and the list is bounded") {
  Round round(12);
  for (const int rank : {0, 2, 7}) REQUIRE(round.admit(hello_of(rank, 12), {.connection = rank}).status.ok());
  CHECK(round.news() == "3 of 12 ranks arrived; missing: 1, 3-6, 8-11");
  CHECK_THAT(trail(round.timed_out(120 * kSecond)), Contains("3 of 12 ranks arrived within 120 s; missing: 1, 3-6, 8-11"));
  Round large(kMaxMeetingRanks);
  for (int rank = 0; rank < kMaxMeetingRanks; rank += 2)
    REQUIRE(large.admit(hello_of(rank, kMaxMeetingRanks), {.connection = rank}).status.ok());
  CHECK(large.news().size() < 300);
}

TEST_CASE("durations read as people write them") {
  CHECK(duration_text(120 * kSecond) == "120 s");
  CHECK(duration_text(1500 * kMillisecond) == "1.5 s");
  CHECK(duration_text(300 * kMillisecond) == "300 ms");
}

TEST_CASE("an id makes one communicator") {
  Ledger ledger(0, false);
  CHECK_FALSE(ledger.find(hello_of(0, 2, "", 1)).ok());
  REQUIRE(ledger.find(hello_of(0, 2)).ok());
  CHECK(ledger.outcome() == hcommInProgress);
  ledger.end(0, hcommSuccess, "");
  CHECK(ledger.outcome() == hcommSuccess);
  CHECK_THAT(trail(ledger.find(hello_of(0, 2)).status()), Contains("made already"));
}

TEST_CASE("a round that failed tells late ranks why") {
  Ledger ledger(2, true);
  REQUIRE(ledger.find(hello_of(0, 2)).ok());
  ledger.end(0, hcommTimeout, "1 of 2 ranks arrived");
  const Result<Round*> late = ledger.find(hello_of(1, 2));
  CHECK(late.status().code() == hcommTimeout);
  CHECK_THAT(trail(late.status()), Contains("1 of 2 ranks arrived"));
}

TEST_CASE("what a ledger remembers is bounded, over many rounds and against wild numbers") {
  Ledger ledger(1, true);
  for (std::uint64_t number = 0; number < 5000; ++number) {
    REQUIRE(ledger.find(hello_of(0, 1, "", number)).ok());
    ledger.end(number, hcommSuccess, "");
  }
  CHECK_FALSE(ledger.find(hello_of(0, 1, "", 17)).ok());
  CHECK_FALSE(ledger.find(hello_of(0, 1, "", ~std::uint64_t{0})).ok());
  std::uint64_t opened = 0;
  for (std::uint64_t number = 5000; number < 6000; ++number) opened += ledger.find(hello_of(0, 1, "", number)).ok() ? 1 : 0;
  CHECK(opened == Ledger::kMaxOpenRounds);
}

TEST_CASE("a size that no job can have is refused where the first rank says the size") {
  for (const int ranks : {0, -1, kMaxMeetingRanks + 1, INT32_MAX}) {
    Ledger ledger(0, false);
    CHECK(ledger.find(hello_of(0, ranks)).status().code() == hcommInvalidArgument);
  }
}

}  // namespace
}  // namespace hcomm
