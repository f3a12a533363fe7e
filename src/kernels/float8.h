// 8-bit floats to and from fp32, in integer arithmetic, by the rules of half.h: to nearest, ties to even, subnormals count.
//
//   e5m2  is the upper half of an fp16: too large becomes infinity; a NaN keeps its sign and payload.
//   e4m3  has no infinities and one NaN of each sign: too large (beyond 464, halfway from the largest number to the one that
//         would follow it) and infinite become NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/half.h"

namespace hcomm {

struct Float8e4m3Bits {
  static constexpr int kMantissa = 3;
  static constexpr int kBias = 7;
  static constexpr std::uint32_t kPastNumbers = 0x7F;  // the first code that is no number: NaN
  static constexpr std::uint32_t nan(std::uint32_t) { return 0x7F; }
  static constexpr std::uint32_t widen_special(std::uint32_t) { return kFloatNan; }
};

struct Float8e5m2Bits {
  static constexpr int kMantissa = 2;
  static constexpr int kBias = 15;
  static constexpr std::uint32_t kPastNumbers = 0x7C;  // infinity
  static constexpr std::uint32_t nan(std::uint32_t magnitude) { return 0x7E | ((magnitude >> 21) & 1); }
  static constexpr std::uint32_t widen_special(std::uint32_t magnitude) { return kFloatInfinity | (magnitude & 3) << 21; }
};

template <class Bits>
constexpr std::uint32_t float8_widen(std::uint8_t element) {
  constexpr int kShift = 23 - Bits::kMantissa;
  constexpr auto kBiases = static_cast<std::uint32_t>(127 - Bits::kBias) << 23;  // the difference, in place
  const std::uint32_t sign = (element & 0x80u) << 24;
  const std::uint32_t magnitude = element & 0x7Fu;
  if (magnitude >= Bits::kPastNumbers) return sign | Bits::widen_special(magnitude);
  if (magnitude >> Bits::kMantissa != 0) return sign | ((magnitude << kShift) + kBiases);
  if (magnitude == 0) return sign;
  const int top = std::bit_width(magnitude) - 1;  // of a subnormal: 2^(top + 1 - bias - mantissa bits) * (1 + what is below)
  const int exponent = top + 1 - Bits::kBias - Bits::kMantissa + 127;
  return sign | static_cast<std::uint32_t>(exponent) << 23 | ((magnitude << (23 - top)) & 0x007F'FFFF);
}

template <class Bits>
constexpr std::uint8_t float8_narrow(std::uint32_t bits) {
  constexpr std::uint32_t kShift = 23 - Bits::kMantissa;
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(128 - Bits::kBias) << 23;
  const std::uint32_t sign = (bits & kFloatSign) >> 24;
  const std::uint32_t magnitude = bits & ~kFloatSign;
  std::uint32_t element = 0;
  if (magnitude > kFloatInfinity) {
    element = Bits::nan(magnitude);
  } else if (magnitude >= kSmallestNormal) {
    const std::uint32_t odd = (magnitude >> kShift) & 1;
    const std::uint32_t unbiased = magnitude - (static_cast<std::uint32_t>(127 - Bits::kBias) << 23);
    element = std::min((unbiased + (1u << (kShift - 1)) - 1 + odd) >> kShift, Bits::kPastNumbers);
  } else {
    // A multiple of the smallest subnormal: the mantissa is shifted by what the exponent asks for. Beyond 24 bits, nothing.
    const int shift = 151 - Bits::kBias - Bits::kMantissa - static_cast<int>(magnitude >> 23);
    if (shift <= 24) {
      const std::uint32_t mantissa = (magnitude & 0x007F'FFFF) | 0x0080'0000;
      const std::uint32_t odd = (mantissa >> shift) & 1;
      element = (mantissa + (1u << (shift - 1)) - 1 + odd) >> shift;
    }
  }
  return static_cast<std::uint8_t>(sign | element);
}

}  // namespace hcomm
