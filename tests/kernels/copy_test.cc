#include <catch2/catch.hpp>

#include "kernels/stores.h"
#include "support.h"

namespace hcomm::test {
namespace {

constexpr std::size_t kMost = 70'000;

void check_copy(Guarded& target, const std::vector<std::byte>& pool, std::size_t bytes, std::size_t from, std::size_t past_line,
                Store store) {
  std::byte* const to = target.fresh(bytes, past_line);
  copy_bytes(to, pool.data() + from, bytes, store);
  INFO("bytes=" << bytes << " from=" << from << " past_line=" << past_line << " store=" << static_cast<int>(store));
  CHECK(std::memcmp(to, pool.data() + from, bytes) == 0);
  CHECK(target.intact());
}

}  // namespace

TEST_CASE("copy_bytes copies exactly, at every alignment, in every store mode") {
  std::vector<std::byte> pool(kMost + 64);
  fill_numbers(pool, 8, 3, 1000);
  const std::vector<std::byte> kept = pool;
  Guarded target(kMost);
  for (const Store store : kStores) {
    for (std::size_t past_line = 0; past_line < 64; ++past_line) {
      for (const std::size_t bytes : {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 128, 129, 191, 192, 300, 4097}) {
        check_copy(target, pool, bytes, past_line * 7 % 64, past_line, store);
      }
    }
    for (const std::size_t bytes : {16384, 65536, 69999}) check_copy(target, pool, bytes, 5, 3, store);
  }
  CHECK(difference(pool, kept) == "");
}

TEST_CASE("one source reaches several targets of either format") {
  constexpr std::size_t kElements = 20'000;
  std::vector<std::byte> pool(kElements * 2);
  fill_numbers(pool, 2, 11, 20);
  for (const std::string_view set : kernel_sets()) {
    for (const Store store : kStores) {
      std::vector<std::byte> first(kElements * 2), wide(kElements * 4), back(kElements * 2);
      const CombineKernel kernel = kernel_of(hcommBfloat16, hcommSum, set);
      const CombineSource source{.data = pool.data()};
      const CombineTarget targets[] = {{.data = first.data()}, {.data = wide.data(), .is_partial = true}};
      kernel({&source, 1}, std::span(targets), kElements, store);
      CHECK(difference(first, pool) == "");
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < kElements; ++i) {
        wrong += wide[i * 4] != std::byte{} || wide[i * 4 + 1] != std::byte{} || wide[i * 4 + 2] != pool[i * 2] ||
                 wide[i * 4 + 3] != pool[i * 2 + 1];
      }
      CHECK(wrong == 0);
    }
  }
}

}  // namespace hcomm::test
