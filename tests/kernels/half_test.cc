// Goal (public case B028): conversions of 16-bit floats round to nearest even, keep NaNs as NaNs, and are the same in
// every set, in vectors and in tails.
// Method: an integer reference that knows nothing of shifts and carries: all midpoints between neighbouring halves, as fp32
// bits in a sorted table, and a search in it. fp32 magnitudes are ordered as their bits are.
#include "kernels/half.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "support.h"

namespace hcomm::test {
namespace {

// fp32 bits of mantissa * 2^exponent; exact, for results that are normal.
std::uint32_t float_bits(std::uint64_t mantissa, int exponent) {
  if (mantissa == 0) return 0;
  const int top = static_cast<int>(std::bit_width(mantissa)) - 1;
  const std::uint64_t fraction = (mantissa << (40 - top) >> 17) & 0x7FFFFF;
  return static_cast<std::uint32_t>(fraction) | static_cast<std::uint32_t>(exponent + top + 127) << 23;
}

// A half of either kind is mantissa * 2^exponent.
struct Kind {
  hcommDataType_t dtype;
  int mantissa_bits;
  int exponent_of_subnormals;
  std::uint16_t infinity;

  std::uint32_t value(std::uint32_t magnitude) const { return scaled(magnitude, 0); }
  std::uint32_t midpoint_above(std::uint32_t magnitude) const { return scaled(magnitude, 1); }

 private:
  std::uint32_t scaled(std::uint32_t magnitude, std::uint64_t half_steps) const {
    const std::uint32_t field = magnitude >> mantissa_bits;
    std::uint64_t mantissa = magnitude & ((1u << mantissa_bits) - 1);
    if (field != 0) mantissa |= 1u << mantissa_bits;
    return float_bits(2 * mantissa + half_steps, exponent_of_subnormals - 1 + (field == 0 ? 0 : static_cast<int>(field) - 1));
  }
};

constexpr Kind kFloat16 = {hcommFloat16, 10, -24, 0x7C00};
constexpr Kind kBfloat16 = {hcommBfloat16, 7, -133, 0x7F80};

class Reference {
 public:
  explicit Reference(const Kind& kind) : kind_(kind) {
    for (std::uint32_t half = 0; half < kind.infinity; ++half) midpoints_.push_back(midpoint(half));
  }

  std::uint16_t narrow(std::uint32_t bits) const {
    const std::uint32_t magnitude = bits & 0x7FFFFFFF;
    const std::uint32_t sign = bits >> 16 & 0x8000;
    const bool nan = magnitude > 0x7F800000;
    if (nan) {  // payload from the top, made quiet
      const std::uint32_t payload = (magnitude & 0x7FFFFF) >> (23 - kind_.mantissa_bits);
      return static_cast<std::uint16_t>(sign | kind_.infinity | payload | 1u << (kind_.mantissa_bits - 1));
    }
    const auto at = std::lower_bound(midpoints_.begin(), midpoints_.end(), magnitude);
    auto half = static_cast<std::uint32_t>(at - midpoints_.begin());
    if (at != midpoints_.end() && *at == magnitude && half % 2 == 1) ++half;  // halfway: to the even neighbour
    return static_cast<std::uint16_t>(sign | half);
  }

  std::uint32_t widen(std::uint16_t half) const {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7FFF;
    if (magnitude < kind_.infinity) return sign | value(magnitude);
    return sign | 0x7F800000 | (magnitude - kind_.infinity) << (23 - kind_.mantissa_bits);
  }

  const std::vector<std::uint32_t>& midpoints() const { return midpoints_; }

 private:
  // bfloat16's smallest values are subnormals of fp32 as well, where bits are the value in units of 2^-149.
  std::uint32_t value(std::uint32_t magnitude) const {
    return kind_.dtype == hcommBfloat16 && magnitude < 0x80 ? magnitude * 0x10000 : kind_.value(magnitude);
  }
  std::uint32_t midpoint(std::uint32_t magnitude) const {
    return kind_.dtype == hcommBfloat16 && magnitude < 0x80 ? magnitude * 0x10000 + 0x8000 : kind_.midpoint_above(magnitude);
  }

  const Kind& kind_;
  std::vector<std::uint32_t> midpoints_;
};

// Every rounding decision there is (each midpoint and its neighbours), the numbers of the public case, and random ones.
std::vector<std::uint32_t> floats_to_narrow(const Reference& reference) {
  std::vector<std::uint32_t> floats = {
      0x7F800001, 0x7FFFFFFF, 0x7FC00000, 0x7F80FFFF, 0x7F801FFF, 0x7F800000, 0x7F7FFFFF,  // NaNs, infinity, the largest
      0x477FE000, 0x477FEFFF, 0x477FF000, 0x477FF001, 0x47800000,                          // fp16's largest + half an ulp
      0x7F7F0000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7F8001,                                      // bfloat16's
      0x00400000, 0x33800000, 0x33000000, 0x33000001, 0x32FFFFFF,                          // 2^-127, 2^-24, 2^-25
      0x00000000, 0x00000001, 0x007FFFFF, 0x00800000};
  for (const std::uint32_t midpoint : reference.midpoints()) {
    floats.insert(floats.end(), {midpoint - 1, midpoint, midpoint + 1});
  }
  Random random(28);
  for (int i = 0; i < 100'000; ++i) floats.push_back(static_cast<std::uint32_t>(random.next()) & 0x7FFFFFFF);
  const std::size_t count = floats.size();
  for (std::size_t i = 0; i < count; ++i) floats.push_back(floats[i] | 0x80000000);
  return floats;
}

std::vector<std::uint16_t> all_halves() {
  std::vector<std::uint16_t> halves(1 << 16);
  for (std::uint32_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  return halves;
}

}  // namespace

TEST_CASE("B028: the reference itself, at known points") {
  CHECK(Reference(kFloat16).narrow(0x477FEFFF) == 0x7BFF);
  CHECK(Reference(kFloat16).narrow(0x477FF000) == 0x7C00);
  CHECK(Reference(kFloat16).narrow(0x33000000) == 0x0000);  // 2^-25 is halfway to the smallest subnormal
  CHECK(Reference(kFloat16).narrow(0x33000001) == 0x0001);
  CHECK(Reference(kFloat16).widen(0x0001) == 0x33800000);
  CHECK(Reference(kFloat16).widen(0x3C00) == 0x3F800000);
  CHECK(Reference(kBfloat16).narrow(0x3F808000) == 0x3F80);
  CHECK(Reference(kBfloat16).narrow(0x3F818000) == 0x3F82);
  CHECK(Reference(kBfloat16).narrow(0x00400000) == 0x0040);  // 2^-127, subnormal in both
  CHECK(Reference(kBfloat16).narrow(0x7F800001) == 0x7FC0);
}

TEST_CASE("B028: narrowing rounds to nearest even and keeps NaNs in every set") {
  for (const Kind& kind : {kFloat16, kBfloat16}) {
    const Reference reference(kind);
    const std::vector<std::uint32_t> floats = floats_to_narrow(reference);
    std::vector<std::uint16_t> expected;
    for (const std::uint32_t bits : floats) expected.push_back(reference.narrow(bits));
    for (const std::string_view set : kernel_sets()) {
      INFO(name(kind.dtype) << " set=" << set);
      const CombineKernel kernel = kernel_of(kind.dtype, hcommSum, set);
      CHECK(difference(converted<std::uint16_t>(kernel, floats, floats.size()), expected) == "");
      CHECK(difference(converted<std::uint16_t>(kernel, floats, 1), expected) == "");
    }
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const std::uint16_t ours = kind.dtype == hcommFloat16 ? float16_narrow(floats[i]) : bfloat16_narrow(floats[i]);
      if (ours != expected[i]) FAIL(name(kind.dtype) << " of " << floats[i] << " is " << ours << ", expected " << expected[i]);
    }
  }
}

TEST_CASE("B028: a result of several sources is rounded by the same rule, and its NaN is canonical") {
  for (const Kind& kind : {kFloat16, kBfloat16}) {
    const Reference reference(kind);
    const std::vector<std::uint32_t> floats = floats_to_narrow(reference);
    for (const std::string_view set : kernel_sets()) {
      std::vector<std::uint16_t> result(floats.size());
      const CombineSource once{.data = floats.data(), .is_partial = true};
      const CombineSource same_twice[] = {once, once};
      const CombineTarget target{.data = result.data()};
      kernel_of(kind.dtype, hcommMax, set)(std::span(same_twice), {&target, 1}, floats.size(), Store::regular);
      for (std::size_t i = 0; i < floats.size(); ++i) {
        const bool nan = (floats[i] & 0x7FFFFFFF) > 0x7F800000;
        const std::uint16_t expected = nan ? reference.narrow(0x7FC00000) : reference.narrow(floats[i]);
        if (result[i] != expected) FAIL(name(kind.dtype) << ' ' << set << " of " << floats[i] << " is " << result[i]);
      }
    }
  }
}

TEST_CASE("B028: widening all 2^16 patterns is exact, and narrowing gives them back") {
  for (const Kind& kind : {kFloat16, kBfloat16}) {
    const Reference reference(kind);
    const std::vector<std::uint16_t> halves = all_halves();
    std::vector<std::uint32_t> expected;
    for (const std::uint16_t half : halves) expected.push_back(reference.widen(half));
    for (const std::string_view set : kernel_sets()) {
      INFO(name(kind.dtype) << " set=" << set);
      const CombineKernel kernel = kernel_of(kind.dtype, hcommMin, set);
      const std::vector<std::uint32_t> widened = converted<std::uint32_t>(kernel, halves, halves.size());
      CHECK(difference(widened, expected) == "");
      CHECK(difference(converted<std::uint32_t>(kernel, halves, 1), expected) == "");
      CHECK(difference(converted<std::uint16_t>(kernel, halves, halves.size()), halves) == "");  // a copy looks at nothing
      const std::vector<std::uint16_t> back = converted<std::uint16_t>(kernel, widened, widened.size());
      for (std::size_t i = 0; i < halves.size(); ++i) {
        const bool nan = (halves[i] & 0x7FFF) > kind.infinity;
        const std::uint32_t quiet = nan ? 1u << (kind.mantissa_bits - 1) : 0;
        if (back[i] == (halves[i] | quiet)) continue;
        FAIL(name(kind.dtype) << ' ' << set << ' ' << halves[i] << " came back as " << back[i]);
      }
    }
  }
}

TEST_CASE("B028: all 2^16 patterns plus awkward ones, summed in fp32 and rounded once") {
  for (const Kind& kind : {kFloat16, kBfloat16}) {
    const Reference reference(kind);
    const std::vector<std::uint16_t> halves = all_halves();
    for (std::uint64_t draw = 0; draw < 16; ++draw) {
      const std::vector<std::uint16_t> others(halves.size(), static_cast<std::uint16_t>(awkward(2, draw)));
      std::vector<std::uint16_t> expected;
      for (std::size_t i = 0; i < halves.size(); ++i) {
        const float a = std::bit_cast<float>(reference.widen(halves[i]));
        const float b = std::bit_cast<float>(reference.widen(others[i]));
        const float sum = a + b;
        expected.push_back(reference.narrow(sum != sum ? 0x7FC00000 : std::bit_cast<std::uint32_t>(sum)));
      }
      for (const std::string_view set : kernel_sets()) {
        std::vector<std::uint16_t> result(halves.size());
        const CombineSource sources[] = {{.data = halves.data()}, {.data = others.data()}};
        const CombineTarget target{.data = result.data()};
        kernel_of(kind.dtype, hcommSum, set)(std::span(sources), {&target, 1}, halves.size(), Store::regular);
        INFO(name(kind.dtype) << " set=" << set << " plus " << others[0]);
        CHECK(difference(result, expected) == "");
      }
    }
  }
}

}  // namespace hcomm::test
