// Goal: a verdict reads the same for everybody, and whatever a peer may have written is one or nothing.
#include "transport/verdict.h"

#include <catch2/catch.hpp>

#include "base/random.h"

namespace hcomm {
namespace {

Verdict full() {
  const CallWords waited_in{.collective = Collective::broadcast, .root = 3, .count = 100, .number = 9, .before = 6};
  Verdict verdict{.reason = Reason::timed_out,
                  .culprit = 2,
                  .pid = 77,
                  .host = host_name("node7"),
                  .writer = 1,
                  .witness = 0,
                  .culprit_call = CallWords{.collective = Collective::barrier, .number = 8, .before = 5},
                  .witness_call = waited_in,
                  .late = 3,
                  .signalled = 2};
  verdict.more_late[0] = 3;
  verdict.more_late[7] = 1;
  return verdict;
}

}  // namespace

TEST_CASE("a verdict survives being packed, with and without calls") {
  CHECK(unpack(pack(full()), 4) == full());
  const Verdict bare{.reason = Reason::aborted, .writer = 3};
  CHECK(unpack(pack(bare), 4) == bare);
}

TEST_CASE("a name of a host is short and printable, whatever it was") {
  CHECK(text_of(host_name("")) == "");
  CHECK(text_of(host_name("node7.example.org")) == "node7.example.o");
  CHECK(text_of(host_name("a\nb c\x80")) == "a?b?c?");
}

// Method: each word in turn is spoiled in many ways.
TEST_CASE("whatever words there are, a verdict that comes out of them has its fields in range") {
  Random random(11);
  int refused = 0;
  int rounds = 0;
  for (std::size_t place = 0; place < kVerdictWords; ++place) {
    for (int round = 0; round < 500; ++round, ++rounds) {
      VerdictWords words = pack(full());
      words[place] = round % 2 == 0 ? random.next() : random.below(5) | random.below(5) << 32;
      const auto verdict = unpack(words, 4);
      refused += verdict ? 0 : 1;
      if (!verdict) continue;
      REQUIRE(!name(verdict->reason).empty());
      for (const Rank rank : {verdict->culprit, verdict->writer, verdict->witness, verdict->more_late[3]}) {
        REQUIRE((rank >= kNoRank && rank < 4));
      }
      REQUIRE(verdict->pid >= 0);
      REQUIRE(verdict->late <= 4);
      REQUIRE(verdict->signalled <= 3);
      for (const char letter : text_of(verdict->host)) REQUIRE((letter > ' ' && letter <= '~'));
    }
  }
  CHECK(refused > 0);
  CHECK(refused < rounds);
}

}  // namespace hcomm
