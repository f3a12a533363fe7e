// hcomm/elements.hpp: which C++ types are elements of which hcommDataType_t, and the operations. Part of <hcomm/hcomm.hpp>.
#ifndef HCOMM_ELEMENTS_HPP
#define HCOMM_ELEMENTS_HPP

#include <hcomm/types.h>

#include <complex>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <type_traits>

namespace hcomm::inline v0 {

// 16 or 8 bits of storage; hcomm does the arithmetic (in float), conversions are the caller's.
struct float16 {
  std::uint16_t bits = 0;
  friend bool operator==(float16, float16) = default;  // of the bits
};
struct bfloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(bfloat16, bfloat16) = default;  // of the bits
};
struct float8e4m3 {
  std::uint8_t bits = 0;
  friend bool operator==(float8e4m3, float8e4m3) = default;  // of the bits
};
struct float8e5m2 {
  std::uint8_t bits = 0;
  friend bool operator==(float8e5m2, float8e5m2) = default;  // of the bits
};
static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2 && sizeof(float8e4m3) == 1 && sizeof(float8e5m2) == 1);
static_assert(sizeof(bool) == 1 && sizeof(std::complex<float>) == 8 && sizeof(std::complex<double>) == 16);

// How hcomm calls the C++ type T; types without an entry cannot be sent.
template <class T>
struct DataType;

template <>
struct DataType<std::int8_t> : std::integral_constant<hcommDataType_t, hcommInt8> {};
template <>
struct DataType<std::uint8_t> : std::integral_constant<hcommDataType_t, hcommUint8> {};
template <>
struct DataType<std::int16_t> : std::integral_constant<hcommDataType_t, hcommInt16> {};
template <>
struct DataType<std::uint16_t> : std::integral_constant<hcommDataType_t, hcommUint16> {};
template <>
struct DataType<std::uint32_t> : std::integral_constant<hcommDataType_t, hcommUint32> {};
template <>
struct DataType<std::uint64_t> : std::integral_constant<hcommDataType_t, hcommUint64> {};
template <>
struct DataType<bool> : std::integral_constant<hcommDataType_t, hcommBool> {};
template <>
struct DataType<std::complex<float>> : std::integral_constant<hcommDataType_t, hcommComplex64> {};
template <>
struct DataType<std::complex<double>> : std::integral_constant<hcommDataType_t, hcommComplex128> {};
template <>
struct DataType<float8e4m3> : std::integral_constant<hcommDataType_t, hcommFloat8e4m3> {};
template <>
struct DataType<float8e5m2> : std::integral_constant<hcommDataType_t, hcommFloat8e5m2> {};
template <>
struct DataType<std::int32_t> : std::integral_constant<hcommDataType_t, hcommInt32> {};
template <>
struct DataType<std::int64_t> : std::integral_constant<hcommDataType_t, hcommInt64> {};
template <>
struct DataType<float> : std::integral_constant<hcommDataType_t, hcommFloat32> {};
template <>
struct DataType<double> : std::integral_constant<hcommDataType_t, hcommFloat64> {};
template <>
struct DataType<float16> : std::integral_constant<hcommDataType_t, hcommFloat16> {};
template <>
struct DataType<bfloat16> : std::integral_constant<hcommDataType_t, hcommBfloat16> {};

template <class T>
concept Element = requires { DataType<T>::value; };

// What sources and targets may be: contiguous, sized, of one element type; a target's elements can be written.
template <class Range>
concept Source = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                 Element<std::ranges::range_value_t<Range>>;
template <class Range>
concept Target = Source<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;
template <class A, class B>
concept SameElements = std::same_as<std::ranges::range_value_t<A>, std::ranges::range_value_t<B>>;

// What can be done with all ranks' elements; docs/types.md says with which. What a type does not have is hcommInvalidArgument.
enum class Op {
  sum = hcommSum,
  prod = hcommProd,
  max = hcommMax,
  min = hcommMin,
  avg = hcommAvg,
  land = hcommLand,
  lor = hcommLor,
  lxor = hcommLxor,
  band = hcommBand,
  bor = hcommBor,
  bxor = hcommBxor,
};

}  // namespace hcomm::inline v0

#endif
