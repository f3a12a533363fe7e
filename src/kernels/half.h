// 16-bit floats to and from fp32, in integer arithmetic: the same bits on every machine and under every control word.
//
//   widen:  exact. A NaN keeps its sign and payload, and stays signalling if it was.
//   narrow: to nearest, ties to even; too large becomes infinity; subnormals count. A NaN stays a NaN: it keeps its sign and
//           the upper bits of its payload, and becomes quiet.
#pragma once

#include <bit>
#include <cstdint>

namespace hcomm {

inline constexpr std::uint32_t kFloatSign = 0x8000'0000;
inline constexpr std::uint32_t kFloatInfinity = 0x7F80'0000;
inline constexpr std::uint32_t kFloatNan = 0x7FC0'0000;  // canonical
inline constexpr std::uint64_t kDoubleNan = 0x7FF8'0000'0000'0000;

// fp16 has 10 bits of mantissa where fp32 has 23, and an exponent bias of 15 where fp32 has 127.
inline constexpr int kFloat16Shift = 13;
inline constexpr std::uint32_t kFloat16Bias = 112u << 23;            // the difference of the biases, in place
inline constexpr std::uint32_t kFloat16Infinity = 0x7C00;
inline constexpr std::uint32_t kFloat16Quiet = 0x0200;
inline constexpr std::uint32_t kFloat16SmallestNormal = 113u << 23;  // 2^-14, as fp32
inline constexpr std::uint32_t kFloat16Overflow = 143u << 23;        // 2^16, as fp32: rounds to infinity
inline constexpr std::uint32_t kBfloat16Quiet = 0x0040;

constexpr std::uint32_t bfloat16_widen(std::uint16_t half) { return std::uint32_t{half} << 16; }

constexpr std::uint16_t bfloat16_narrow(std::uint32_t bits) {
  if ((bits & ~kFloatSign) > kFloatInfinity) return static_cast<std::uint16_t>((bits >> 16) | kBfloat16Quiet);
  const std::uint32_t odd = (bits >> 16) & 1;
  return static_cast<std::uint16_t>((bits + 0x7FFF + odd) >> 16);
}

constexpr std::uint32_t float16_widen(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7FFFu;
  if (magnitude >= kFloat16Infinity) return sign | kFloatInfinity | (magnitude << kFloat16Shift);
  if (magnitude >= 0x0400) return sign | ((magnitude << kFloat16Shift) + kFloat16Bias);
  if (magnitude == 0) return sign;
  const int top = std::bit_width(magnitude) - 1;  // the value is 2^(top - 24) * (1 + what is below the top bit)
  const std::uint32_t mantissa = (magnitude << (23 - top)) & 0x007F'FFFF;
  return sign | (static_cast<std::uint32_t>(top - 24 + 127) << 23) | mantissa;
}

constexpr std::uint16_t float16_narrow(std::uint32_t bits) {
  const std::uint32_t sign = (bits & kFloatSign) >> 16;
  const std::uint32_t magnitude = bits & ~kFloatSign;
  std::uint32_t half = 0;
  if (magnitude > kFloatInfinity) {
    half = kFloat16Infinity | kFloat16Quiet | ((magnitude >> kFloat16Shift) & 0x03FF);
  } else if (magnitude >= kFloat16Overflow) {
    half = kFloat16Infinity;
  } else if (magnitude >= kFloat16SmallestNormal) {
    const std::uint32_t odd = (magnitude >> kFloat16Shift) & 1;
    half = (magnitude - kFloat16Bias + 0x0FFF + odd) >> kFloat16Shift;  // a carry may reach infinity, rightly
  } else if (magnitude >= (102u << 23)) {  // at least 2^-25: half of the smallest subnormal
    const std::uint32_t shift = 126 - (magnitude >> 23);  // 14 to 24
    const std::uint32_t mantissa = (magnitude & 0x007F'FFFF) | 0x0080'0000;
    const std::uint32_t odd = (mantissa >> shift) & 1;
    half = (mantissa + (1u << (shift - 1)) - 1 + odd) >> shift;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace hcomm
