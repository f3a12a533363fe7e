// The reference: plain C++, no vectors, no tiles, one element at a time. It is the judge of all other sets, so it is written
// to be read.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "kernels/elements.h"
#include "kernels/float_control.h"
#include "kernels/sets.h"
#include "kernels/stores.h"

namespace hcomm {
namespace elements {
namespace {

template <class T>
T read(const void* memory, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(memory) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void write(void* memory, std::size_t index, T value, Store store) {
  put(static_cast<std::byte*>(memory) + index * sizeof(T), reinterpret_cast<const std::byte*>(&value), sizeof(T), store);
}

template <class Type, class Op>
typename Type::Partial tree(std::span<const CombineSource> sources, std::size_t index) {
  using Partial = typename Type::Partial;
  if (sources.size() == 1) {
    const CombineSource& source = sources[0];
    if (source.is_partial) return read<Partial>(source.data, index);
    return Type::widen(read<typename Type::Element>(source.data, index));
  }
  const std::size_t left = std::bit_floor(sources.size() - 1);
  return Op::apply(tree<Type, Op>(sources.first(left), index), tree<Type, Op>(sources.subspan(left), index));
}

// One source to one target. Where the formats agree the bits are not looked at.
template <class Type>
void copy_element(const CombineSource& source, const CombineTarget& target, std::size_t index, Store store) {
  using Element = typename Type::Element;
  using Partial = typename Type::Partial;
  if (source.is_partial && target.is_partial) {
    write(target.data, index, read<Partial>(source.data, index), store);
  } else if (source.is_partial) {
    write(target.data, index, Type::narrow(read<Partial>(source.data, index)), store);
  } else if (target.is_partial) {
    write(target.data, index, Type::widen(read<Element>(source.data, index)), store);
  } else {
    write(target.data, index, read<Element>(source.data, index), store);
  }
}

// Of what a target gets, but for the copies of a single source.
template <class Type, class Finish>
void write_result(typename Type::Partial result, const CombineTarget& target, std::size_t index, Store store) {
  if (target.finished_over != 0) result = Finish::apply(result, target.finished_over);
  if (target.is_partial) {
    write(target.data, index, result, store);
  } else {
    write(target.data, index, Type::narrow(result), store);
  }
}

template <class Type, class Op, class Finish>
void combine(std::span<const CombineSource> sources, std::span<const CombineTarget> targets, std::size_t elements,
             Store store) noexcept {
  HCOMM_ASSERT(!sources.empty() && sources.size() <= kMaxCombineSources);
  const auto is_finished = [](const CombineTarget& target) { return target.finished_over != 0; };
  const bool copies = sources.size() == 1 && (std::is_same_v<Finish, Complete> || std::ranges::none_of(targets, is_finished));
  {
    const DefaultFloatControl control(kIsFloat<typename Type::Partial>);
    for (std::size_t index = 0; index < elements; ++index) {
      if (copies) {
        for (const CombineTarget& target : targets) copy_element<Type>(sources[0], target, index, store);
        continue;
      }
      const auto result = canonical(tree<Type, Op>(sources, index));
      for (const CombineTarget& target : targets) write_result<Type, Finish>(result, target, index, store);
    }
  }
  publish(store);
}

template <class Type, class Op, class Finish = Complete>
constexpr CombineKernel kCombine = combine<Type, Op, Finish>;

template <class T, class Wide>
CombineKernel of_integer(hcommRedOp_t op) {
  using Type = Same<T>;
  switch (op) {
    case hcommSum:  return kCombine<Type, Sum>;
    case hcommProd: return kCombine<Type, Product>;
    case hcommMin:  return kCombine<Type, Smaller>;
    case hcommMax:  return kCombine<Type, Larger>;
    case hcommAvg:  return kCombine<Widened<T, Wide>, Sum, Mean>;
    case hcommLand: return kCombine<Type, Both, Truth>;
    case hcommLor:  return kCombine<Type, Either, Truth>;
    case hcommLxor: return kCombine<Type, OneOf, Truth>;
    case hcommBand: return kCombine<Type, BitsOfBoth>;
    case hcommBor:  return kCombine<Type, BitsOfEither>;
    case hcommBxor: return kCombine<Type, BitsOfOne>;
  }
  return nullptr;
}

CombineKernel of_bool(hcommRedOp_t op) {
  using Type = Same<std::uint8_t>;
  switch (op) {
    case hcommSum:
    case hcommMax:
    case hcommLor:
    case hcommBor:  return kCombine<Type, Either, Truth>;
    case hcommProd:
    case hcommMin:
    case hcommLand:
    case hcommBand: return kCombine<Type, Both, Truth>;
    case hcommLxor:
    case hcommBxor: return kCombine<Type, OneOf, Truth>;
    case hcommAvg:  return nullptr;
  }
  return nullptr;
}

template <class Type>
CombineKernel of_float(hcommRedOp_t op) {
  if (op == hcommSum) return kCombine<Type, Sum>;
  if (op == hcommProd) return kCombine<Type, Product>;
  if (op == hcommMin) return kCombine<Type, Smaller>;
  if (op == hcommMax) return kCombine<Type, Larger>;
  if (op == hcommAvg) return kCombine<Type, Sum, Mean>;
  return nullptr;
}

template <class T>
CombineKernel of_complex(hcommRedOp_t op) {
  using Type = Same<Complex<T>>;
  if (op == hcommSum) return kCombine<Type, Sum>;
  if (op == hcommProd) return kCombine<Type, Product>;
  if (op == hcommAvg) return kCombine<Type, Sum, Mean>;
  return nullptr;
}

CombineKernel kernel_of(hcommDataType_t dtype, hcommRedOp_t op) {
  switch (dtype) {
    case hcommInt8:       return of_integer<std::int8_t, std::int64_t>(op);
    case hcommUint8:      return of_integer<std::uint8_t, std::int64_t>(op);
    case hcommInt16:      return of_integer<std::int16_t, std::int64_t>(op);
    case hcommUint16:     return of_integer<std::uint16_t, std::int64_t>(op);
    case hcommInt32:      return of_integer<std::int32_t, std::int64_t>(op);
    case hcommUint32:     return of_integer<std::uint32_t, std::int64_t>(op);
    case hcommInt64:      return of_integer<std::int64_t, Int128>(op);
    case hcommUint64:     return of_integer<std::uint64_t, Uint128>(op);
    case hcommBool:       return of_bool(op);
    case hcommFloat16:    return of_float<Float16>(op);
    case hcommBfloat16:   return of_float<Bfloat16>(op);
    case hcommFloat32:    return of_float<Same<float>>(op);
    case hcommFloat64:    return of_float<Same<double>>(op);
    case hcommFloat8e4m3: return of_float<Float8<Float8e4m3Bits>>(op);
    case hcommFloat8e5m2: return of_float<Float8<Float8e5m2Bits>>(op);
    case hcommComplex64:  return of_complex<float>(op);
    case hcommComplex128: return of_complex<double>(op);
  }
  return nullptr;
}

}  // namespace
}  // namespace elements

CombineKernel find_scalar(hcommDataType_t dtype, hcommRedOp_t op) { return elements::kernel_of(dtype, op); }

}  // namespace hcomm
