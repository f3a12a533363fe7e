// Goal: conversions of 8-bit floats are those of the Open Compute Project, rounded to nearest even, e4m3 without saturation.
// Method: all 256 values by their definition, in doubles; a search for the nearest of them, which knows no bits but those of
// the code; every rounding decision there is (each midpoint and its neighbours), and random numbers.
#include "kernels/float8.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "support.h"

namespace hcomm::test {
namespace {

struct Kind {
  hcommDataType_t dtype;
  int mantissa_bits;
  int bias;
  unsigned codes;  // of numbers that are finite and not negative: [0, codes)
  unsigned infinite;  // the code of what is too large
  std::uint8_t canonical_nan;
};

constexpr Kind kE4m3 = {hcommFloat8e4m3, 3, 7, 0x7F, 0x7F, 0x7F};
constexpr Kind kE5m2 = {hcommFloat8e5m2, 2, 15, 0x7C, 0x7C, 0x7E};

// By the definition. One code more than there are numbers: what would follow the largest.
double value_of(const Kind& kind, unsigned code) {
  const unsigned field = code >> kind.mantissa_bits;
  const unsigned fraction = code & ((1u << kind.mantissa_bits) - 1);
  const double mantissa = fraction / static_cast<double>(1u << kind.mantissa_bits);
  if (field == 0) return std::ldexp(mantissa, 1 - kind.bias);
  return std::ldexp(1 + mantissa, static_cast<int>(field) - kind.bias);
}

std::uint8_t nearest(const Kind& kind, float number) {
  const auto sign = static_cast<std::uint8_t>(std::signbit(number) ? 0x80 : 0);
  const double size = std::min(std::fabs(static_cast<double>(number)), 1e6);  // beyond, differences would not differ
  unsigned best = 0;
  for (unsigned code = 1; code <= kind.codes; ++code) {
    const double here = std::fabs(value_of(kind, code) - size);
    const double before = std::fabs(value_of(kind, best) - size);
    if (here < before || (here == before && code % 2 == 0)) best = code;
  }
  return static_cast<std::uint8_t>(sign | (std::isinf(number) || best == kind.codes ? kind.infinite : best));
}

std::vector<float> floats_to_narrow(const Kind& kind) {
  std::vector<float> floats = {0, 1e-45F, 1e-40F, 3e38F, HUGE_VALF, 464, std::nextafterf(464, 1000), 480, 61440, 65536};
  for (unsigned code = 0; code < kind.codes; ++code) {
    const auto number = static_cast<float>(value_of(kind, code));
    const auto midpoint = static_cast<float>((value_of(kind, code) + value_of(kind, code + 1)) / 2);
    floats.insert(floats.end(), {number, std::nextafterf(number, 1e9F), midpoint, std::nextafterf(midpoint, 0),
                                 std::nextafterf(midpoint, 1e9F)});
  }
  Random random(8);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t exponent = 100 + static_cast<std::uint32_t>(random.below(50));
    floats.push_back(std::bit_cast<float>(exponent << 23 | (static_cast<std::uint32_t>(random.next()) & 0x7FFFFF)));
  }
  const std::size_t count = floats.size();
  for (std::size_t i = 0; i < count; ++i) floats.push_back(-floats[i]);
  return floats;
}

}  // namespace

TEST_CASE("8-bit floats: the oracle itself, at known points") {
  CHECK(value_of(kE4m3, 0x7E) == 448);
  CHECK(value_of(kE4m3, 0x01) == std::ldexp(1.0, -9));
  CHECK(value_of(kE5m2, 0x7B) == 57344);
  CHECK(value_of(kE5m2, 0x01) == std::ldexp(1.0, -16));
  CHECK(nearest(kE4m3, 464) == 0x7E);  // halfway to 480, which would be the code of NaN: the even one is 448
  CHECK(nearest(kE4m3, std::nextafterf(464, 1000)) == 0x7F);
  CHECK(nearest(kE5m2, 61440) == 0x7C);
  CHECK(nearest(kE4m3, -1) == 0xB8);
}

TEST_CASE("8-bit floats: narrowing rounds to nearest even, and too large is NaN or infinity") {
  for (const Kind& kind : {kE4m3, kE5m2}) {
    const std::vector<float> floats = floats_to_narrow(kind);
    std::vector<std::uint8_t> expected;
    for (const float number : floats) expected.push_back(nearest(kind, number));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(floats[i]);
      const unsigned ours = kind.mantissa_bits == 3 ? float8_narrow<Float8e4m3Bits>(bits) : float8_narrow<Float8e5m2Bits>(bits);
      if (ours != expected[i]) FAIL(name(kind.dtype) << " of " << floats[i] << " is " << ours << ", expected " << +expected[i]);
    }
    for (const std::string_view set : kernel_sets()) {
      INFO(name(kind.dtype) << " set=" << set);
      const CombineKernel kernel = kernel_of(kind.dtype, hcommSum, set);
      CHECK(difference(converted<std::uint8_t>(kernel, floats, floats.size()), expected) == "");
      CHECK(difference(converted<std::uint8_t>(kernel, floats, 1), expected) == "");
    }
  }
}

TEST_CASE("8-bit floats: widening all 256 patterns is exact, and narrowing gives them back") {
  std::vector<std::uint8_t> all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
  for (const Kind& kind : {kE4m3, kE5m2}) {
    for (const std::string_view set : kernel_sets()) {
      const CombineKernel kernel = kernel_of(kind.dtype, hcommMax, set);
      const std::vector<float> widened = converted<float>(kernel, all, 100);
      const std::vector<std::uint8_t> back = converted<std::uint8_t>(kernel, widened, 100);
      for (unsigned i = 0; i < 256; ++i) {
        INFO(name(kind.dtype) << ' ' << set << ' ' << i);
        const unsigned code = i & 0x7F;
        CHECK(std::signbit(widened[i]) == (i >= 0x80));
        if (code < kind.codes) CHECK(std::fabs(widened[i]) == value_of(kind, code));
        const bool nan = code > kind.infinite || (code == kind.infinite && kind.infinite == kind.canonical_nan);
        CHECK(std::isnan(widened[i]) == nan);
        if (code >= kind.codes && !nan) CHECK(std::isinf(widened[i]));
        CHECK(back[i] == (nan ? i | kind.canonical_nan : i));  // a signalling NaN becomes quiet
      }
    }
  }
}

TEST_CASE("8-bit floats: all pairs, combined in fp32 and rounded once") {
  for (const Kind& kind : {kE4m3, kE5m2}) {
    std::vector<std::uint8_t> left, right;
    for (unsigned i = 0; i < 1 << 16; ++i) {
      left.push_back(static_cast<std::uint8_t>(i));
      right.push_back(static_cast<std::uint8_t>(i >> 8));
    }
    const std::vector<float> a = converted<float>(kernel_of(kind.dtype, hcommSum, "scalar"), left, left.size());
    const std::vector<float> b = converted<float>(kernel_of(kind.dtype, hcommSum, "scalar"), right, right.size());
    for (const hcommRedOp_t op : {hcommSum, hcommProd, hcommAvg}) {
      std::vector<std::uint8_t> expected;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const float result = op == hcommProd ? a[i] * b[i] : op == hcommAvg ? (a[i] + b[i]) / 2 : a[i] + b[i];
        expected.push_back(std::isnan(result) ? kind.canonical_nan : nearest(kind, result));
      }
      for (const std::string_view set : kernel_sets()) {
        std::vector<std::uint8_t> result(left.size());
        const CombineSource sources[] = {{.data = left.data()}, {.data = right.data()}};
        const CombineTarget target{.data = result.data(), .finished_over = 2};
        kernel_of(kind.dtype, op, set)(std::span(sources), {&target, 1}, result.size(), Store::regular);
        INFO(name(kind.dtype) << ' ' << name(op) << " set=" << set);
        CHECK(difference(result, expected) == "");
      }
    }
  }
}

}  // namespace hcomm::test
