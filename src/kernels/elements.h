// What types and operations mean, one element at a time, in plain C++. scalar.cc and plain.cc make kernels of it.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/float8.h"
#include "kernels/half.h"

namespace hcomm::elements {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

// --- Types: how an element lies in memory, what it is combined in (Partial), and the way between the two ---------------

template <class T>
struct Same {
  using Element = T;
  using Partial = T;
  static T widen(T element) { return element; }
  static T narrow(T partial) { return partial; }
};

// Sums of integers that do not wrap.
template <class T, class Wide>
struct Widened {
  using Element = T;
  using Partial = Wide;
  static Wide widen(T element) { return element; }
  static T narrow(Wide partial) { return static_cast<T>(partial); }
};

template <std::uint32_t (*kWiden)(std::uint16_t), std::uint16_t (*kNarrow)(std::uint32_t)>
struct Half {
  using Element = std::uint16_t;
  using Partial = float;
  static float widen(std::uint16_t element) { return std::bit_cast<float>(kWiden(element)); }
  static std::uint16_t narrow(float partial) { return kNarrow(std::bit_cast<std::uint32_t>(partial)); }
};

using Float16 = Half<float16_widen, float16_narrow>;
using Bfloat16 = Half<bfloat16_widen, bfloat16_narrow>;

template <class Bits>
struct Float8 {
  using Element = std::uint8_t;
  using Partial = float;
  static float widen(std::uint8_t element) { return std::bit_cast<float>(kWidened[element]); }
  static std::uint8_t narrow(float partial) { return float8_narrow<Bits>(std::bit_cast<std::uint32_t>(partial)); }

 private:
  static constexpr std::array<std::uint32_t, 256> kWidened = [] {
    std::array<std::uint32_t, 256> widened{};
    for (std::uint32_t i = 0; i < 256; ++i) widened[i] = float8_widen<Bits>(static_cast<std::uint8_t>(i));
    return widened;
  }();
};

template <class T>
struct Complex {
  T real;
  T imaginary;
};

// --- Operations ---------------------------------------------------------------------------------------------------------

// Wraps where it has no room for the result: computed as Unsigned, which has all of its bits.
template <class T>
concept Wrapping = std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Uint128>;
template <class T>
using Unsigned = std::conditional_t<(sizeof(T) > sizeof(std::uint64_t)), Uint128, std::uint64_t>;

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (Wrapping<T>) return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
    else return a + b;
  }
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
};

// Complex factors are multiplied by the four products, whatever becomes of infinities.
struct Product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (Wrapping<T>) return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
    else return a * b;
  }
  template <class T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

template <class T>
bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) && !std::signbit(b);  // -0 is less than +0
  }
  return a < b;
}

struct Smaller {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return less(b, a) ? b : a;
  }
};

struct Larger {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
    }
    return less(a, b) ? b : a;
  }
};

struct BitsOfBoth {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};
struct BitsOfEither {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};
struct BitsOfOne {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
struct Both {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>((a != 0) & (b != 0)); }
};
struct Either {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>((a | b) != 0); }
};
struct OneOf {
  template <class T>
  static T apply(T a, T b) { return static_cast<T>((a != 0) != (b != 0)); }
};

// --- What becomes of the result of all ranks --------------------------------------------------------------------------

struct Complete {
  template <class T>
  static T apply(T value, int) { return value; }
};

struct Mean {
  template <class T>
  static T apply(T value, int ranks) { return static_cast<T>(value / static_cast<T>(ranks)); }
  template <class T>
  static Complex<T> apply(Complex<T> value, int ranks) {
    return {apply(value.real, ranks), apply(value.imaginary, ranks)};
  }
};

struct Truth {
  template <class T>
  static T apply(T value, int) { return static_cast<T>(value != 0); }
};

// --- NaNs ---------------------------------------------------------------------------------------------------------------

template <class T>
T canonical(T value) { return value; }
inline float canonical(float value) { return std::isnan(value) ? std::bit_cast<float>(kFloatNan) : value; }
inline double canonical(double value) { return std::isnan(value) ? std::bit_cast<double>(kDoubleNan) : value; }
template <class T>
Complex<T> canonical(Complex<T> value) { return {canonical(value.real), canonical(value.imaginary)}; }

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool kIsFloat<Complex<T>> = true;

}  // namespace hcomm::elements
