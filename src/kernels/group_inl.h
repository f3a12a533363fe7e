// The tree over a group of sources, in registers. Compiled once per instruction set.
#if defined(HCOMM_KERNELS_GROUP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HCOMM_KERNELS_GROUP_INL_H
#undef HCOMM_KERNELS_GROUP_INL_H
#else
#define HCOMM_KERNELS_GROUP_INL_H
#endif

#include <bit>

#include "hwy/highway.h"
#include "kernels/group.h"
#include "kernels/lanes_inl.h"
#include "kernels/sets.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hcomm::HWY_NAMESPACE {

struct Sum {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D, hn::Vec<D> a, hn::Vec<D> b) {
    return hn::Add(a, b);
  }
};

struct Product {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D, hn::Vec<D> a, hn::Vec<D> b) {
    return hn::Mul(a, b);
  }
};

struct BitsOfBoth {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D, hn::Vec<D> a, hn::Vec<D> b) {
    return hn::And(a, b);
  }
};

struct BitsOfEither {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D, hn::Vec<D> a, hn::Vec<D> b) {
    return hn::Or(a, b);
  }
};

struct BitsOfOne {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D, hn::Vec<D> a, hn::Vec<D> b) {
    return hn::Xor(a, b);
  }
};

// The vector minimum of two floats is, depending on the machine, the second operand or a NaN if one of them is a NaN, and
// either operand if both are zeros. Taken both ways round it becomes exact: two zeros give both signs, and where a NaN is
// involved the two differ, or are both NaN.
struct Min {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D, hn::Vec<D> a, hn::Vec<D> b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::Or(hn::Min(a, b), hn::Min(b, a));  // either -0 makes -0; a NaN stays one under `or`
    } else {
      return hn::Min(a, b);
    }
  }
};

struct Max {
  template <class D>
  static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> a, hn::Vec<D> b) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      const auto one_way = hn::Max(a, b);
      const auto other_way = hn::Max(b, a);
      const auto either = hn::And(one_way, other_way);  // either +0 makes +0
      return hn::IfThenElse(hn::Eq(one_way, other_way), either, hn::NaN(d));
    } else {
      return hn::Max(a, b);
    }
  }
};

// Leaves [first, first + count) at an element, in the partial format.
template <class Lanes, class Op, std::size_t kFirst, std::size_t kCount, class D>
HWY_INLINE hn::Vec<D> tree(D d, const std::byte* const* leaves, std::size_t at) {
  if constexpr (kCount == 1) {
    return Lanes::widen(d, leaves[kFirst] + at * Lanes::kElementBytes);
  } else {
    constexpr std::size_t kLeft = std::bit_floor(kCount - 1);
    const auto left = tree<Lanes, Op, kFirst, kLeft>(d, leaves, at);
    return Op::apply(d, left, tree<Lanes, Op, kFirst + kLeft, kCount - kLeft>(d, leaves, at));
  }
}

// The same tree for any number of leaves, smaller and slower: for the ends of runs. held: finished subtrees, by their bit in
// the number of leaves so far; the last leaf takes all that are left.
template <class Lanes, class Op, class D>
HWY_INLINE hn::Vec<D> any_tree(D d, const Group& group, std::size_t at) {
  hn::Vec<D> held[4];
  for (std::size_t i = 0;; ++i) {
    auto value = Lanes::widen(d, group.leaves[i] + at * Lanes::kElementBytes);
    const bool last = i + 1 == group.leaf_count;
    std::size_t level = 0;
    for (; last ? i >> level != 0 : (i >> level & 1) != 0; ++level) {
      if ((i >> level & 1) != 0) value = Op::apply(d, held[level], value);
    }
    if (last) return value;
    held[level] = value;
  }
}

// What comes after the tree over the leaves: the subtrees to the left, and the store.
template <class Lanes, class Op, class D>
HWY_INLINE void finish(D d, const Group& group, std::size_t left_count, hn::Vec<D> value, std::byte* result,
                       bool result_is_partial, std::size_t at) {
  using Partial = typename Lanes::Partial;
  for (std::size_t i = 0; i < left_count; ++i) {
    value = Op::apply(d, load_raw(d, group.lefts[i] + at * sizeof(Partial)), value);
  }
  if (result_is_partial) {
    store_raw(d, canonical(d, value), result + at * sizeof(Partial));
  } else {
    Lanes::narrow(d, value, result + at * Lanes::kElementBytes);
  }
}

template <class Lanes>
bool delivers_partials(const Group& group) {
  return group.result_is_partial || Lanes::kElementBytes == sizeof(typename Lanes::Partial);
}

// Whole vectors; returns how many elements they covered.
template <class Lanes, class Op, std::size_t kCount>
std::size_t run(const Group& group, std::size_t elements) {
  const hn::ScalableTag<typename Lanes::Partial> d;
  const std::byte* leaves[kCount];  // a copy, so that the pointers stay in registers
  for (std::size_t i = 0; i < kCount; ++i) leaves[i] = group.leaves[i];
  const std::size_t left_count = group.left_count;
  std::byte* const result = group.result;
  const bool partial = delivers_partials<Lanes>(group);
  std::size_t at = 0;
  for (; at + hn::Lanes(d) <= elements; at += hn::Lanes(d)) {
    finish<Lanes, Op>(d, group, left_count, tree<Lanes, Op, 0, kCount>(d, leaves, at), result, partial, at);
  }
  return at;
}

// Elements [at, elements): vectors of 16 bytes, then single ones. By the same steps, so the same bits.
template <class Lanes, class Op>
HWY_NOINLINE void run_end(const Group& group, std::size_t at, std::size_t elements) {
  using Partial = typename Lanes::Partial;
  const hn::CappedTag<Partial, 16 / sizeof(Partial)> few;
  const hn::CappedTag<Partial, 1> single;
  const bool partial = delivers_partials<Lanes>(group);
  for (; at + hn::Lanes(few) <= elements; at += hn::Lanes(few)) {
    finish<Lanes, Op>(few, group, group.left_count, any_tree<Lanes, Op>(few, group, at), group.result, partial, at);
  }
  for (; at < elements; ++at) {
    finish<Lanes, Op>(single, group, group.left_count, any_tree<Lanes, Op>(single, group, at), group.result, partial, at);
  }
}

template <class Lanes, class Op>
std::size_t run_vectors(const Group& group, std::size_t elements) {
  switch (group.leaf_count) {
    case 1: return run<Lanes, Op, 1>(group, elements);
    case 2: return run<Lanes, Op, 2>(group, elements);
    case 3: return run<Lanes, Op, 3>(group, elements);
    case 4: return run<Lanes, Op, 4>(group, elements);
    case 5: return run<Lanes, Op, 5>(group, elements);
    case 6: return run<Lanes, Op, 6>(group, elements);
    case 7: return run<Lanes, Op, 7>(group, elements);
    case 8: return run<Lanes, Op, 8>(group, elements);
  }
  unreachable();
}

template <class Lanes, class Op>
void combine_group(const Group& group, std::size_t elements) noexcept {
  const std::size_t done = run_vectors<Lanes, Op>(group, elements);
  if (done < elements) run_end<Lanes, Op>(group, done, elements);
}

// The same with a loop in the place of a function for each number of leaves: a quarter of the code, and slower in the
// cache. For what is combined rarely.
template <class Lanes, class Op>
void combine_group_small(const Group& group, std::size_t elements) noexcept {
  const hn::ScalableTag<typename Lanes::Partial> d;
  const bool partial = delivers_partials<Lanes>(group);
  std::size_t at = 0;
  for (; at + hn::Lanes(d) <= elements; at += hn::Lanes(d)) {
    finish<Lanes, Op>(d, group, group.left_count, any_tree<Lanes, Op>(d, group, at), group.result, partial, at);
  }
  if (at < elements) run_end<Lanes, Op>(group, at, elements);
}

// Makes means of sums.
template <class T>
void divide_run(std::byte* sums, std::size_t elements, int ranks) noexcept {
  const hn::ScalableTag<T> full;
  const hn::CappedTag<T, 1> single;
  const T divisor = static_cast<T>(ranks);
  std::size_t at = 0;
  for (; at + hn::Lanes(full) <= elements; at += hn::Lanes(full)) {
    std::byte* const place = sums + at * sizeof(T);
    store_raw(full, hn::Div(load_raw(full, place), hn::Set(full, divisor)), place);
  }
  for (; at < elements; ++at) {
    std::byte* const place = sums + at * sizeof(T);
    store_raw(single, hn::Div(load_raw(single, place), hn::Set(single, divisor)), place);
  }
}

template <class Lanes>
void widen_run(std::byte* target, const std::byte* source, std::size_t elements) noexcept {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 1> single;
  std::size_t at = 0;
  for (; at + hn::Lanes(full) <= elements; at += hn::Lanes(full)) {
    store_raw(full, Lanes::widen(full, source + at * 2), target + at * 4);
  }
  for (; at < elements; ++at) store_raw(single, Lanes::widen(single, source + at * 2), target + at * 4);
}

template <class Lanes>
void narrow_run(std::byte* target, const std::byte* source, std::size_t elements) noexcept {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 1> single;
  std::size_t at = 0;
  for (; at + hn::Lanes(full) <= elements; at += hn::Lanes(full)) {
    Lanes::narrow_copy(full, load_raw(full, source + at * 4), target + at * 2);
  }
  for (; at < elements; ++at) Lanes::narrow_copy(single, load_raw(single, source + at * 4), target + at * 2);
}

enum class Code : std::uint8_t { fast, small };

template <class Lanes, class Op, Code kCode>
constexpr Recipe recipe() {
  using Partial = typename Lanes::Partial;
  constexpr bool kFast = kCode == Code::fast;
  Recipe made = {
      .element_bytes = Lanes::kElementBytes,
      .partial_bytes = sizeof(Partial),
      .is_float = hwy::IsFloat<Partial>(),
      .combine_elements = kFast ? combine_group<Lanes, Op> : combine_group_small<Lanes, Op>,
      .combine_partials = kFast ? combine_group<SameLanes<Partial>, Op> : combine_group_small<SameLanes<Partial>, Op>,
      .widen = nullptr,
      .narrow = nullptr,
      .finish = nullptr};
  if constexpr (Lanes::kElementBytes != sizeof(Partial)) {
    made.widen = widen_run<Lanes>;
    made.narrow = narrow_run<Lanes>;
  }
  return made;
}

template <class Lanes, class Op, Code kCode = Code::fast>
void kernel(std::span<const CombineSource> sources, std::span<const CombineTarget> targets, std::size_t elements,
            Store store) noexcept {
  static constexpr Recipe kRecipe = recipe<Lanes, Op, kCode>();
  combine_by_recipe(kRecipe, sources, targets, elements, store);
}

template <class Lanes>
void mean_kernel(std::span<const CombineSource> sources, std::span<const CombineTarget> targets, std::size_t elements,
                 Store store) noexcept {
  static constexpr Recipe kRecipe = [] {
    Recipe made = recipe<Lanes, Sum, Code::fast>();
    made.finish = divide_run<typename Lanes::Partial>;
    return made;
  }();
  combine_by_recipe(kRecipe, sources, targets, elements, store);
}

template <class Lanes>
CombineKernel float_kernel(hcommRedOp_t op) {
  if (op == hcommSum) return kernel<Lanes, Sum>;
  if (op == hcommProd) return kernel<Lanes, Product, Code::small>;
  if (op == hcommMin) return kernel<Lanes, Min>;
  if (op == hcommMax) return kernel<Lanes, Max>;
  if (op == hcommAvg) return mean_kernel<Lanes>;
  return nullptr;
}

}  // namespace hcomm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR
#endif  // per-target include guard
