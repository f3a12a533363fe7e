// The reference: plain C++, no vectors, no tiles, one element at a time. It is the judge of all other sets, so it is written
// to be read.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/assert.h"
#include "kernels/float_control.h"
#include "kernels/half.h"
#include "kernels/sets.h"
#include "kernels/stores.h"

namespace hcomm {
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

// A type is told by how it lies in memory (Element), what it is combined in (Partial), and the way between the two.
template <class T>
struct Same {
  using Element = T;
  using Partial = T;
  static T widen(T element) { return element; }
  static T narrow(T partial) { return partial; }
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

template <class T>
bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) && !std::signbit(b);  // -0 is less than +0
  }
  return a < b;
}

template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return less(b, a) ? b : a;
}

template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return less(a, b) ? b : a;
}

template <class T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

float canonical(float value) { return std::isnan(value) ? std::bit_cast<float>(kFloatNan) : value; }
double canonical(double value) { return std::isnan(value) ? std::bit_cast<double>(kDoubleNan) : value; }
template <class T>
  requires std::is_integral_v<T>
T canonical(T value) {
  return value;
}

template <class Type, auto kCombine>
typename Type::Partial tree(std::span<const CombineSource> sources, std::size_t index) {
  using Partial = typename Type::Partial;
  if (sources.size() == 1) {
    const CombineSource& source = sources[0];
    if (source.is_partial) return read<Partial>(source.data, index);
    return Type::widen(read<typename Type::Element>(source.data, index));
  }
  const std::size_t left = std::bit_floor(sources.size() - 1);
  return kCombine(tree<Type, kCombine>(sources.first(left), index), tree<Type, kCombine>(sources.subspan(left), index));
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

template <class Type, auto kCombine>
void combine(std::span<const CombineSource> sources, std::span<const CombineTarget> targets, std::size_t elements,
             Store store) noexcept {
  HCOMM_ASSERT(!sources.empty() && sources.size() <= kMaxCombineSources);
  {
    const DefaultFloatControl control(std::is_floating_point_v<typename Type::Partial>);
    for (std::size_t index = 0; index < elements; ++index) {
      if (sources.size() == 1) {
        for (const CombineTarget& target : targets) copy_element<Type>(sources[0], target, index, store);
        continue;
      }
      const auto result = canonical(tree<Type, kCombine>(sources, index));
      for (const CombineTarget& target : targets) {
        if (target.is_partial) write(target.data, index, result, store);
        if (!target.is_partial) write(target.data, index, Type::narrow(result), store);
      }
    }
  }
  publish(store);
}

template <class Type>
CombineKernel of_type(hcommRedOp_t op) {
  using Partial = typename Type::Partial;
  if (op == hcommSum) return combine<Type, wrapped_sum<Partial>>;
  if (op == hcommMin) return combine<Type, smaller<Partial>>;
  if (op == hcommMax) return combine<Type, larger<Partial>>;
  return nullptr;
}

}  // namespace

CombineKernel find_scalar(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommInt32) return of_type<Same<std::int32_t>>(op);
  if (dtype == hcommInt64) return of_type<Same<std::int64_t>>(op);
  if (dtype == hcommFloat16) return of_type<Float16>(op);
  if (dtype == hcommBfloat16) return of_type<Bfloat16>(op);
  if (dtype == hcommFloat32) return of_type<Same<float>>(op);
  if (dtype == hcommFloat64) return of_type<Same<double>>(op);
  return nullptr;
}

}  // namespace hcomm
