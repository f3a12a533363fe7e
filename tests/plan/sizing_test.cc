#include "plan/sizing.h"

#include <catch2/catch.hpp>

namespace hcomm {

TEST_CASE("a unit is a share of the chunk, of whole lines, within a cache") {
  CHECK(unit_bytes({.blocks = 64}, {.chunk_bytes = 64 * 1024}) == 1024);
  CHECK(unit_bytes({.blocks = 3}, {.chunk_bytes = 1000}) == 320);
  CHECK(unit_bytes({.blocks = 1}, {.chunk_bytes = 4u << 20}) == kUnitLimitBytes);
  CHECK(unit_bytes({.blocks = 4096}, {.chunk_bytes = 64}) == 64);
}

TEST_CASE("a schedule in the window has the room of its slots, or none") {
  const Shape shape{.blocks = 8, .slot_units = 8};
  CHECK(unit_bytes(shape, {.has_window = false, .slot_bytes = 1u << 20}) == 0);
  CHECK(unit_bytes(shape, {.has_window = true, .slot_bytes = 1u << 20}) == (1u << 17));
  CHECK(unit_bytes(shape, {.has_window = true, .slot_bytes = 8 * 64}) == 64);
  CHECK(unit_bytes(shape, {.has_window = true, .slot_bytes = 8 * 64 - 1}) == 0);
  for (const std::size_t slot_bytes : {512, 1000, 4096, 100000}) {
    const std::size_t unit = unit_bytes(shape, {.has_window = true, .slot_bytes = slot_bytes});
    CHECK(unit % 64 == 0);
    CHECK(unit * 8 <= slot_bytes);
  }
}

}  // namespace hcomm
