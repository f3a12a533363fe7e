#include "comm/core_use.h"

#include <catch2/catch.hpp>

#include "topology/cores.h"

namespace hcomm {
namespace {

CoreUse use(std::string_view machine, std::uint64_t processors, std::uint32_t quota = 0) {
  CoreUse made{.machine = host_id(machine), .quota = quota};
  made.mask[0] = processors;
  return made;
}

}  // namespace

TEST_CASE("cores that several ranks may use count once, those of other machines by themselves") {
  const CoreUse ranks[] = {use("a", 0b0011), use("a", 0b0110), use("b", 0b0001)};
  for (const int rank : {0, 1}) {
    const CoreCount count = count_cores(ranks, rank);
    CHECK(count.all == 4);
    CHECK(count.here == 3);
    CHECK(count.neighbours_here == 2);
  }
  const CoreCount other = count_cores(ranks, 2);
  CHECK(other.all == 4);
  CHECK(other.here == 1);
  CHECK(other.neighbours_here == 1);
}

TEST_CASE("the tightest quota of a machine bounds its cores, and none is less than one") {
  const CoreUse ranks[] = {use("a", 0xff, 6), use("a", 0xff, 3), use("b", 0xf), use("c", 0)};
  CHECK(count_cores(ranks, 0).here == 3);
  CHECK(count_cores(ranks, 2).here == 4);
  CHECK(count_cores(ranks, 3).here == 1);
  CHECK(count_cores(ranks, 0).all == 3 + 4 + 1);
}

TEST_CASE("processors beyond the first 64 count") {
  CoreUse large = use("a", 1);
  large.mask.back() = std::uint64_t{1} << 63;
  CHECK(count_cores({&large, 1}, 0).all == 2);
}

TEST_CASE("this process's own use is what the kernel says") {
  const CoreUse own = own_core_use();
  CHECK(count_cores({&own, 1}, 0).all == usable_cores());
  CHECK(own.machine != HostId{});
}

}  // namespace hcomm
