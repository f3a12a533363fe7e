// Goal: float kernels give the same bits whatever rounding mode the caller runs with, and leave it as it was.
#include "kernels/float_control.h"

#include <catch2/catch.hpp>

#include <cfenv>

#include "support.h"

namespace hcomm::test {
namespace {

constexpr std::size_t kElements = 53;

std::vector<std::byte> run(CombineKernel kernel, const std::vector<std::byte>& pool, std::size_t bytes, std::size_t count) {
  std::vector<CombineSource> sources;
  for (std::size_t i = 0; i < count; ++i) sources.push_back({.data = pool.data() + i * kElements * bytes});
  std::vector<std::byte> result(kElements * bytes);
  const CombineTarget target{.data = result.data(), .finished_over = count > 1 ? 3 : 0};
  kernel(sources, {&target, 1}, kElements, Store::regular);
  return result;
}

}  // namespace

TEST_CASE("the caller's rounding mode and flags change nothing and are left alone") {
  for (const auto& [dtype, op] : all_types_and_ops()) {
    const std::size_t bytes = element_bytes(dtype);
    std::vector<std::byte> pool(kElements * bytes * 9);
    fill_numbers(pool, number_bytes(dtype, bytes), 5, 9);
    for (const std::string_view set : kernel_sets()) {
      for (const std::size_t count : {1, 2, 9}) {
        const CombineKernel kernel = kernel_of(dtype, op, set);
        const std::vector<std::byte> expected = run(kernel, pool, bytes, count);
        for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
          std::fesetround(mode);
          std::feclearexcept(FE_ALL_EXCEPT);
          const std::vector<std::byte> result = run(kernel, pool, bytes, count);
          const int mode_after = std::fegetround();
          const int flags_after = std::fetestexcept(FE_ALL_EXCEPT);
          std::fesetround(FE_TONEAREST);
          INFO(name(dtype) << ' ' << name(op) << ' ' << set << " sources=" << count << " mode=" << mode);
          CHECK(difference(result, expected) == "");
          CHECK(mode_after == mode);
          CHECK(flags_after == 0);
        }
      }
    }
  }
}

TEST_CASE("the guard gives back what it found, when it is needed and when not") {
  volatile float one = 1;
  volatile float little = 0x1p-30F;  // lost to nearest, but not upwards
  std::fesetround(FE_UPWARD);
  volatile float inside = 0;
  volatile float inside_unneeded = 0;
  {
    const DefaultFloatControl control(true);
    inside = one + little;
  }
  {
    const DefaultFloatControl control(false);
    inside_unneeded = one + little;
  }
  volatile float after = one + little;
  std::fesetround(FE_TONEAREST);
  CHECK(inside == 1);
  CHECK(inside_unneeded > 1);
  CHECK(after > 1);
}

}  // namespace hcomm::test
