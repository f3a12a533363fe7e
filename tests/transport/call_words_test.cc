// Goal: whatever must be alike changes the digest, and whatever a peer may have written is a call or nothing.
#include "transport/call_words.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/random.h"

namespace hcomm {

TEST_CASE("a digest knows all that ranks must call alike, and all calls before") {
  const CallWords call{.collective = Collective::allreduce, .dtype = hcommFloat32, .count = 100, .number = 5, .before = 77};
  std::set<std::uint64_t> digests{call_digest(call)};
  const auto add = [&](auto change) {
    CallWords other = call;
    change(other);
    digests.insert(call_digest(other));
  };
  add([](CallWords& other) { other.count = 101; });
  add([](CallWords& other) { other.dtype = hcommInt32; });
  add([](CallWords& other) { other.op = hcommMax; });
  add([](CallWords& other) { other.collective = Collective::reduce_scatter; });
  add([](CallWords& other) { other.root = 1; });
  add([](CallWords& other) { other.number = 6; });
  add([](CallWords& other) { other.before = 78; });
  CHECK(digests.size() == 8);
  CHECK(digests.contains(call_digest(call)));
}

TEST_CASE("a call survives being packed") {
  for (const Collective collective : kCollectives) {
    const CallWords call{.collective = collective, .dtype = hcommComplex128, .op = hcommAvg, .root = 3, .count = UINT64_MAX,
                         .number = 9, .before = 1};
    CHECK(unpack(pack(call), 4) == call);
    CHECK_FALSE(unpack(pack(call), 3).has_value());  // no such rank
  }
}

TEST_CASE("whatever is packed, a call that comes out of it has a collective and a root in range") {
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 10'000; ++round) {
    const PackedCall packed{.kind = random.next() & 0x3'00ff'ff07, .count = random.next(), .number = random.next(), .before = 0};
    const auto call = unpack(packed, 3);
    refused += call ? 0 : 1;
    if (!call) continue;
    REQUIRE(!name(call->collective).empty());
    REQUIRE((call->root >= 0 && call->root < 3));
  }
  CHECK(refused > 0);
  CHECK(refused < 10'000);
}

}  // namespace hcomm
