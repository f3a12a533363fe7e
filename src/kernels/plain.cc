// The kernels that no instruction set has a version of its own for: plain loops over blocks of elements, which compilers make
// vectors of where they can. All sets but the reference share them.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/elements.h"
#include "kernels/group.h"
#include "kernels/sets.h"

namespace hcomm {
namespace elements {
namespace {

constexpr std::size_t kBlock = 64;  // elements; a constant, so that loops over whole blocks need no ends

template <class Partial>
using Block = std::array<Partial, kBlock>;

template <class Op, class Partial>
void combine_into(Block<Partial>& right, const Block<Partial>& left) {
  for (std::size_t i = 0; i < kBlock; ++i) right[i] = Op::apply(left[i], right[i]);
}

template <class T>
void read(Block<T>& block, const std::byte* from, std::size_t at, std::size_t count) {
  std::memcpy(block.data(), from + at * sizeof(T), count * sizeof(T));
}

template <class T>
void write(const Block<T>& block, std::byte* to, std::size_t at, std::size_t count) {
  std::memcpy(to + at * sizeof(T), block.data(), count * sizeof(T));
}

template <class Type>
void widen_block(Block<typename Type::Partial>& block, const std::byte* from, std::size_t at, std::size_t count) {
  Block<typename Type::Element> elements{};
  read(elements, from, at, count);
  for (std::size_t i = 0; i < kBlock; ++i) block[i] = Type::widen(elements[i]);
}

template <class Type>
void narrow_block(const Block<typename Type::Partial>& block, std::byte* to, std::size_t at, std::size_t count) {
  Block<typename Type::Element> elements;
  for (std::size_t i = 0; i < kBlock; ++i) elements[i] = Type::narrow(block[i]);
  write(elements, to, at, count);
}

// The tree over a group's leaves, of Type's elements, and its left neighbours; see group.h. held: finished subtrees, by their
// bit in the number of leaves so far.
template <class Type, class Op>
void combine_group(const Group& group, std::size_t elements) noexcept {
  using Partial = typename Type::Partial;
  for (std::size_t at = 0; at < elements; at += kBlock) {
    const std::size_t count = std::min(kBlock, elements - at);
    Block<Partial> held[4];
    Block<Partial> value;
    for (std::size_t i = 0; i < group.leaf_count; ++i) {
      widen_block<Type>(value, group.leaves[i], at, count);
      const bool last = i + 1 == group.leaf_count;
      std::size_t level = 0;
      for (; last ? i >> level != 0 : (i >> level & 1) != 0; ++level) {
        if ((i >> level & 1) != 0) combine_into<Op>(value, held[level]);
      }
      if (!last) held[level] = value;
    }
    for (std::size_t i = 0; i < group.left_count; ++i) {
      widen_block<Same<Partial>>(held[0], group.lefts[i], at, count);
      combine_into<Op>(value, held[0]);
    }
    for (Partial& each : value) each = canonical(each);
    if (group.result_is_partial) {
      write(value, group.result, at, count);
    } else {
      narrow_block<Type>(value, group.result, at, count);
    }
  }
}

template <class Type>
void widen_run(std::byte* target, const std::byte* source, std::size_t elements) noexcept {
  Block<typename Type::Partial> block;
  for (std::size_t at = 0; at < elements; at += kBlock) {
    const std::size_t count = std::min(kBlock, elements - at);
    widen_block<Type>(block, source, at, count);
    write(block, target, at, count);
  }
}

template <class Type>
void narrow_run(std::byte* target, const std::byte* source, std::size_t elements) noexcept {
  Block<typename Type::Partial> block{};
  for (std::size_t at = 0; at < elements; at += kBlock) {
    const std::size_t count = std::min(kBlock, elements - at);
    read(block, source, at, count);
    narrow_block<Type>(block, target, at, count);
  }
}

template <class Partial, class Finish>
void finish_run(std::byte* partials, std::size_t elements, int ranks) noexcept {
  for (std::size_t at = 0; at < elements; ++at) {
    Partial value;
    std::memcpy(&value, partials + at * sizeof value, sizeof value);
    value = Finish::apply(value, ranks);
    std::memcpy(partials + at * sizeof value, &value, sizeof value);
  }
}

template <class Type, class Op, class Finish>
constexpr Recipe recipe() {
  using Element = typename Type::Element;
  using Partial = typename Type::Partial;
  Recipe made = {.element_bytes = sizeof(Element),
                 .partial_bytes = sizeof(Partial),
                 .is_float = kIsFloat<Partial>,
                 .combine_elements = combine_group<Type, Op>,
                 .combine_partials = combine_group<Same<Partial>, Op>,
                 .widen = nullptr,
                 .narrow = nullptr,
                 .finish = nullptr};
  if constexpr (!std::is_same_v<Type, Same<Partial>>) {
    made.widen = widen_run<Type>;
    made.narrow = narrow_run<Type>;
  }
  if constexpr (!std::is_same_v<Finish, Complete>) made.finish = finish_run<Partial, Finish>;
  return made;
}

template <class Type, class Op, class Finish = Complete>
void kernel(std::span<const CombineSource> sources, std::span<const CombineTarget> targets, std::size_t elements,
            Store store) noexcept {
  static constexpr Recipe kRecipe = recipe<Type, Op, Finish>();
  combine_by_recipe(kRecipe, sources, targets, elements, store);
}

template <class T>
CombineKernel of_word(hcommRedOp_t op) {
  if constexpr (sizeof(T) == 1 || sizeof(T) == 8) {  // no vectors of these are multiplied
    if (op == hcommProd) return kernel<Same<T>, Product>;
  }
  if (op == hcommLand) return kernel<Same<T>, Both, Truth>;
  if (op == hcommLor) return kernel<Same<T>, Either, Truth>;
  return op == hcommLxor ? kernel<Same<T>, OneOf, Truth> : nullptr;
}

CombineKernel of_mean(hcommDataType_t dtype) {
  if (dtype == hcommInt8) return kernel<Widened<std::int8_t, std::int64_t>, Sum, Mean>;
  if (dtype == hcommUint8) return kernel<Widened<std::uint8_t, std::int64_t>, Sum, Mean>;
  if (dtype == hcommInt16) return kernel<Widened<std::int16_t, std::int64_t>, Sum, Mean>;
  if (dtype == hcommUint16) return kernel<Widened<std::uint16_t, std::int64_t>, Sum, Mean>;
  if (dtype == hcommInt32) return kernel<Widened<std::int32_t, std::int64_t>, Sum, Mean>;
  if (dtype == hcommUint32) return kernel<Widened<std::uint32_t, std::int64_t>, Sum, Mean>;
  if (dtype == hcommInt64) return kernel<Widened<std::int64_t, Int128>, Sum, Mean>;
  if (dtype == hcommUint64) return kernel<Widened<std::uint64_t, Uint128>, Sum, Mean>;
  return nullptr;
}

template <class Type>
CombineKernel of_float(hcommRedOp_t op) {
  if (op == hcommSum) return kernel<Type, Sum>;
  if (op == hcommProd) return kernel<Type, Product>;
  if (op == hcommMin) return kernel<Type, Smaller>;
  if (op == hcommMax) return kernel<Type, Larger>;
  return op == hcommAvg ? kernel<Type, Sum, Mean> : nullptr;
}

CombineKernel kernel_of(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommFloat8e4m3) return of_float<Float8<Float8e4m3Bits>>(op);
  if (dtype == hcommFloat8e5m2) return of_float<Float8<Float8e5m2Bits>>(op);
  if (dtype == hcommComplex64 && op == hcommProd) return kernel<Same<Complex<float>>, Product>;
  if (dtype == hcommComplex128 && op == hcommProd) return kernel<Same<Complex<double>>, Product>;
  const KernelKind kind = same_bits(dtype, op);
  if (kind.op == hcommAvg) return of_mean(kind.dtype);
  if (kind.dtype == hcommUint8) return of_word<std::uint8_t>(kind.op);
  if (kind.dtype == hcommUint16) return of_word<std::uint16_t>(kind.op);
  if (kind.dtype == hcommUint32) return of_word<std::uint32_t>(kind.op);
  if (kind.dtype == hcommUint64) return of_word<std::uint64_t>(kind.op);
  return nullptr;
}

}  // namespace
}  // namespace elements

CombineKernel find_plain(hcommDataType_t dtype, hcommRedOp_t op) { return elements::kernel_of(dtype, op); }

}  // namespace hcomm
