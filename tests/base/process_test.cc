#include "base/process.h"

#include <catch2/catch.hpp>

#include "child.h"

namespace hcomm {
namespace {

// Whether body() returns true in the child of a fork.
template <class Body>
bool holds_in_child(Body body) {
  return testing::exit_code_of([&] { return body() ? 0 : 1; }) == 0;
}

}  // namespace

TEST_CASE("the generation changes in each child, and stays in the parent", "[process]") {
  const std::uint32_t here = fork_generation();
  CHECK(fork_generation() == here);
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(holds_in_child([&] {
      const std::uint32_t child = fork_generation();
      return child != here && fork_generation() == child &&
             holds_in_child([&] { return fork_generation() != here && fork_generation() != child; });
    }));
    CHECK(fork_generation() == here);
  }
  CHECK_FALSE(holds_in_child([&] { return fork_generation() == here; }));  // the canary
}

}  // namespace hcomm
