// What the numbers mean, by public cases: B007 (NaN, infinities, signed zeros), B008 (wrapping), B011 (16-bit floats rounded
// once), and targets that are sources.
#include <catch2/catch.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

#include "kernels/half.h"
#include "support.h"

namespace hcomm::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float float32(hcommRedOp_t op, std::string_view set, std::initializer_list<float> values) {
  return combined<float>(kernel_of(hcommFloat32, op, set), values);
}
double float64(hcommRedOp_t op, std::string_view set, std::initializer_list<double> values) {
  return combined<double>(kernel_of(hcommFloat64, op, set), values);
}
bool is_canonical_nan(float value) { return std::bit_cast<std::uint32_t>(value) == 0x7FC00000; }
bool is_canonical_nan(double value) { return std::bit_cast<std::uint64_t>(value) == 0x7FF8000000000000; }

// `first` and n - 1 times `rest`, as halves, over lanes enough for vectors and tails.
std::vector<std::uint16_t> stagnant(hcommDataType_t dtype, std::string_view set, float first, float rest, std::size_t n) {
  const auto narrow = [&](float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return dtype == hcommFloat16 ? float16_narrow(bits) : bfloat16_narrow(bits);
  };
  constexpr std::size_t kElements = 37;
  const std::vector<std::uint16_t> firsts(kElements, narrow(first));
  const std::vector<std::uint16_t> rests(kElements, narrow(rest));
  std::vector<CombineSource> sources(n, CombineSource{.data = rests.data()});
  sources[0].data = firsts.data();
  std::vector<std::uint16_t> result(kElements);
  const CombineTarget target{.data = result.data()};
  kernel_of(dtype, hcommSum, set)(sources, {&target, 1}, kElements, Store::regular);
  return result;
}

template <class T>
void check_signed_zeros(hcommDataType_t dtype, std::string_view set) {
  const T minus = static_cast<T>(-0.0);
  const T plus = static_cast<T>(0.0);
  const CombineKernel max = kernel_of(dtype, hcommMax, set);
  const CombineKernel min = kernel_of(dtype, hcommMin, set);
  const CombineKernel sum = kernel_of(dtype, hcommSum, set);
  CHECK(!std::signbit(combined<T>(max, {minus, plus})));
  CHECK(!std::signbit(combined<T>(max, {plus, minus})));
  CHECK(std::signbit(combined<T>(max, {minus, minus})));
  CHECK(std::signbit(combined<T>(min, {minus, plus})));
  CHECK(std::signbit(combined<T>(min, {plus, minus})));
  CHECK(!std::signbit(combined<T>(min, {plus, plus})));
  CHECK(std::signbit(combined<T>(sum, {minus, minus})));
  CHECK(!std::signbit(combined<T>(sum, {minus, plus})));
}

}  // namespace

TEST_CASE("B007: a NaN wins minimum and maximum from either side") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    for (const hcommRedOp_t op : combine_ops(hcommFloat32)) {
      CHECK(is_canonical_nan(float32(op, set, {1, kNan})));
      CHECK(is_canonical_nan(float32(op, set, {kNan, 1})));
      CHECK(is_canonical_nan(float32(op, set, {-kNan, kInfinity})));
      CHECK(is_canonical_nan(float32(op, set, {1, 2, 3, 4, 5, 6, 7, 8, 9, kNan, 11})));
      CHECK(is_canonical_nan(float32(op, set, {kNan, kNan, kNan})));  // all-NaN is no seed like FLT_MAX
      CHECK(is_canonical_nan(float64(op, set, {1, std::numeric_limits<double>::signaling_NaN()})));
      CHECK(is_canonical_nan(float64(op, set, {std::numeric_limits<double>::quiet_NaN(), 1})));
      for (const hcommDataType_t half : {hcommFloat16, hcommBfloat16}) {
        const std::uint16_t nan = half == hcommFloat16 ? 0xFC01 : 0xFF81;  // negative, signalling
        const std::uint16_t canonical = half == hcommFloat16 ? 0x7E00 : 0x7FC0;
        CHECK(combined<std::uint16_t>(kernel_of(half, op, set), {0x3C00, nan}) == canonical);
        CHECK(combined<std::uint16_t>(kernel_of(half, op, set), {nan, 0x3C00}) == canonical);
      }
    }
  }
}

TEST_CASE("B007: infinities") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    CHECK(is_canonical_nan(float32(hcommSum, set, {kInfinity, -kInfinity})));
    CHECK(is_canonical_nan(float64(hcommSum, set, {-HUGE_VAL, HUGE_VAL})));
    CHECK(float32(hcommSum, set, {kInfinity, 1, kInfinity}) == kInfinity);
    CHECK(float32(hcommMax, set, {-kInfinity, -kInfinity, -kInfinity}) == -kInfinity);
    CHECK(float32(hcommMin, set, {-kInfinity, -kInfinity}) == -kInfinity);
    CHECK(float32(hcommMin, set, {kInfinity, kInfinity}) == kInfinity);
    CHECK(float64(hcommMax, set, {-HUGE_VAL, -HUGE_VAL}) == -HUGE_VAL);
    CHECK(combined<std::uint16_t>(kernel_of(hcommBfloat16, hcommMax, set), {0xFF80, 0xFF80}) == 0xFF80);
    CHECK(combined<std::uint16_t>(kernel_of(hcommFloat16, hcommMax, set), {0xFC00, 0xFC00}) == 0xFC00);
    CHECK(float32(hcommSum, set, {std::numeric_limits<float>::max(), std::numeric_limits<float>::max()}) == kInfinity);
  }
}

TEST_CASE("B007: minus zero is less than plus zero, whatever the order") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    check_signed_zeros<float>(hcommFloat32, set);
    check_signed_zeros<double>(hcommFloat64, set);
    for (const hcommDataType_t half : {hcommFloat16, hcommBfloat16}) {
      CHECK(combined<std::uint16_t>(kernel_of(half, hcommMax, set), {0x8000, 0x0000}) == 0x0000);
      CHECK(combined<std::uint16_t>(kernel_of(half, hcommMin, set), {0x0000, 0x8000}) == 0x8000);
    }
  }
}

TEST_CASE("B007: one source is a copy of its bits, a NaN too") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    for (const hcommRedOp_t op : combine_ops(hcommFloat32)) {
      const float signalling = std::bit_cast<float>(0xFF800001u);
      CHECK(std::bit_cast<std::uint32_t>(float32(op, set, {signalling})) == 0xFF800001);
      CHECK(combined<std::uint16_t>(kernel_of(hcommFloat16, op, set), {0xFC01}) == 0xFC01);
      CHECK(combined<std::uint16_t>(kernel_of(hcommBfloat16, op, set), {0x7F81}) == 0x7F81);
    }
  }
}

TEST_CASE("subnormals count") {
  for (const std::string_view set : kernel_sets()) {
    const float tiny = std::numeric_limits<float>::denorm_min();
    CHECK(float32(hcommSum, set, {tiny, tiny, tiny}) == 3 * tiny);
    CHECK(float32(hcommMax, set, {0, tiny}) == tiny);
    CHECK(float32(hcommMin, set, {tiny, 2 * tiny}) == tiny);
    CHECK(float64(hcommSum, set, {4e-324, 4e-324}) == 8e-324);
    CHECK(combined<std::uint16_t>(kernel_of(hcommFloat16, hcommSum, set), {0x0001, 0x0001}) == 0x0002);
    CHECK(combined<std::uint16_t>(kernel_of(hcommBfloat16, hcommSum, set), {0x0001, 0x0001}) == 0x0002);
  }
}

TEST_CASE("B008: integer sums wrap") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    const CombineKernel sum32 = kernel_of(hcommInt32, hcommSum, set);
    const CombineKernel sum64 = kernel_of(hcommInt64, hcommSum, set);
    CHECK(combined<std::int32_t>(sum32, {INT_MAX, 1}) == INT_MIN);
    CHECK(combined<std::int32_t>(sum32, {INT_MIN, -1}) == INT_MAX);
    CHECK(combined<std::int32_t>(sum32, {INT_MAX, INT_MAX, 2}) == 0);
    CHECK(combined<std::int64_t>(sum64, {LLONG_MAX, 1}) == LLONG_MIN);
    CHECK(combined<std::int64_t>(sum64, {LLONG_MIN, LLONG_MIN}) == 0);
    CHECK(combined<std::int32_t>(kernel_of(hcommInt32, hcommMin, set), {INT_MAX, INT_MIN, 0}) == INT_MIN);
    CHECK(combined<std::int64_t>(kernel_of(hcommInt64, hcommMax, set), {LLONG_MIN, -1, -2}) == -1);
    const std::vector<std::int32_t> most(67, INT_MAX);  // vectors and tails
    std::vector<std::int32_t> result(67);
    const CombineSource sources[] = {{.data = most.data()}, {.data = most.data()}};
    const CombineTarget target{.data = result.data()};
    sum32(std::span(sources), {&target, 1}, most.size(), Store::regular);
    CHECK(result == std::vector<std::int32_t>(67, -2));
  }
}

TEST_CASE("B011: small contributions to a large 16 bit sum are not lost") {
  for (const std::string_view set : kernel_sets()) {
    for (const std::size_t n : {2, 3, 4, 8, 9, 16, 32, 33, 64, 100}) {
      INFO("set=" << set << " n=" << n);
      const float bf16_exact = 256 + 0.5F * static_cast<float>(n - 1);
      const std::vector<std::uint16_t> bf16 = stagnant(hcommBfloat16, set, 256, 0.5F, n);
      CHECK(bf16 == std::vector<std::uint16_t>(bf16.size(), bfloat16_narrow(std::bit_cast<std::uint32_t>(bf16_exact))));
      const float fp16_exact = 2048 + static_cast<float>(n - 1);
      const std::vector<std::uint16_t> fp16 = stagnant(hcommFloat16, set, 2048, 1, n);
      CHECK(fp16 == std::vector<std::uint16_t>(fp16.size(), float16_narrow(std::bit_cast<std::uint32_t>(fp16_exact))));
    }
    // Rounding at each step would have stayed at 256 and at 2048.
    CHECK(stagnant(hcommBfloat16, set, 256, 0.5F, 33)[0] == 0x4388);
    CHECK(stagnant(hcommFloat16, set, 2048, 1, 33)[0] == 0x6810);
  }
}

TEST_CASE("a target may be exactly one of the sources") {
  constexpr std::size_t kElements = 1500;
  for (const hcommDataType_t dtype : combine_types()) {
    const std::size_t bytes = kElements * element_bytes(dtype);
    std::vector<std::byte> pool(bytes);
    for (const std::string_view set : kernel_sets()) {
      for (const std::size_t count : {1, 2, 5, 8, 9, 24}) {
        for (const Store store : kStores) {
          std::vector<std::vector<std::byte>> data(count, pool);
          std::vector<CombineSource> sources;
          for (std::size_t i = 0; i < count; ++i) {
            fill_numbers(data[i], number_bytes(dtype, element_bytes(dtype)), i + 1, 50);
            sources.push_back({.data = data[i].data()});
          }
          std::vector<std::byte> apart(bytes), second(bytes);
          const CombineTarget aside{.data = apart.data()};
          kernel_of(dtype, hcommSum, "scalar")(sources, {&aside, 1}, kElements, Store::regular);
          const std::size_t alias = count / 2;
          const CombineTarget targets[] = {{.data = second.data()}, {.data = data[alias].data()}};
          const bool alone = store == Store::regular;  // the alias as the only target, and as the last of two
          kernel_of(dtype, hcommSum, set)(sources, std::span(targets).subspan(alone ? 1 : 0), kElements, store);
          INFO(name(dtype) << " set=" << set << " sources=" << count);
          CHECK(difference(data[alias], apart) == "");
          if (!alone) CHECK(difference(second, apart) == "");
        }
      }
    }
  }
}

TEST_CASE("no elements or no targets touch nothing") {
  for (const std::string_view set : kernel_sets()) {
    const float source = 1;
    const CombineSource sources[] = {{.data = &source}, {.data = &source}};
    float kept = 42;
    const CombineTarget target{.data = &kept};
    kernel_of(hcommFloat32, hcommSum, set)(std::span(sources), {&target, 1}, 0, Store::non_temporal);
    kernel_of(hcommFloat32, hcommSum, set)(std::span(sources), {}, 1, Store::regular);
    CHECK(kept == 42);
  }
}

}  // namespace hcomm::test
