// Goal: whatever must be alike changes the digest, what need not be does not, and tags tell another call from a later one.
#include "comm/call_digest.h"

#include <catch2/catch.hpp>

#include <set>

namespace hcomm {

TEST_CASE("a digest knows all that ranks must call alike, and nothing else") {
  const CollectiveCall call{.collective = Collective::allreduce, .count = 100, .dtype = hcommFloat32, .op = hcommSum};
  std::set<std::uint64_t> digests{call_digest(call, 0), call_digest(call, 1)};
  CollectiveCall other = call;
  other.count = 101;
  digests.insert(call_digest(other, 0));
  other = call;
  other.dtype = hcommInt32;
  digests.insert(call_digest(other, 0));
  other = call;
  other.op = hcommMax;
  digests.insert(call_digest(other, 0));
  other = call;
  other.collective = Collective::reduce_scatter;
  digests.insert(call_digest(other, 0));
  other = {.collective = Collective::broadcast, .count = 100, .dtype = hcommFloat32, .root = 0};
  digests.insert(call_digest(other, 0));
  CollectiveCall rooted = other;
  rooted.root = 1;
  digests.insert(call_digest(rooted, 0));
  CHECK(digests.size() == 8);

  other.op = hcommMax;  // means nothing in a broadcast
  CHECK(digests.contains(call_digest(other, 0)));
  CollectiveCall placed = call;
  int memory = 0;
  placed.send = placed.recv = &memory;  // local facts
  CHECK(call_digest(placed, 0) == call_digest(call, 0));
}

TEST_CASE("tags clash when the number is the same and the call is not") {
  const std::uint64_t one = 0x123456789abcdef0, two = 0x123456789abcdef1;
  CHECK_FALSE(tags_clash(call_tag(one, 7), call_tag(one, 7)));
  CHECK(tags_clash(call_tag(one, 7), call_tag(two, 7)));
  CHECK_FALSE(tags_clash(call_tag(one, 7), call_tag(two, 8)));
  CHECK_FALSE(tags_clash(call_tag(one, 0), 0));  // who has not called yet
}

}  // namespace hcomm
