// What an instruction set has to know: how to combine a run of elements of up to eight neighbouring sources, in registers.
// Everything else (any number of sources, mixed formats, several targets, store modes) is tiles.cc.
//
// The balanced tree over n sources, cut into groups of eight leaves, is the balanced tree over the groups: eight is a
// power of two, so no split falls inside a group. Walking the groups from left to right, what is finished to the left of
// group g are full subtrees, one for each bit that is set in g, the nearest being the smallest:
//
//        g = 0b110           level 2: groups 0..3     level 1: groups 4, 5     group 6
//                                     [ o o o o ]              [ o o ]            o
//
// So a group first combines its leaves, then takes the finished subtrees that end where it begins, nearest first.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/combine.h"

namespace hcomm {

inline constexpr std::size_t kGroupLeaves = 8;
inline constexpr std::size_t kLevels = 9;  // of groups: groups of kMaxCombineSources, as bits
static_assert(kMaxCombineSources == kGroupLeaves << kLevels);

struct Group {
  std::array<const std::byte*, kGroupLeaves> leaves;
  std::size_t leaf_count;
  std::array<const std::byte*, kLevels> lefts;  // finished subtrees, nearest first, in the partial format
  std::size_t left_count;
  std::byte* result;  // may be exactly one of the leaves
  bool result_is_partial;
};

// A NaN in the result is the canonical one. No alignment is asked for.
using GroupFunction = void (*)(const Group& group, std::size_t elements) noexcept;
using ConvertFunction = void (*)(std::byte* target, const std::byte* source, std::size_t elements) noexcept;
using FinishFunction = void (*)(std::byte* partials, std::size_t elements, int ranks) noexcept;  // in place

// A type and an operation in one instruction set.
struct Recipe {
  std::size_t element_bytes;
  std::size_t partial_bytes;
  bool is_float;
  GroupFunction combine_elements;  // leaves are elements; the result is either
  GroupFunction combine_partials;  // leaves and result are partials
  ConvertFunction widen;           // null where the two formats are the same
  ConvertFunction narrow;
  FinishFunction finish;  // null where the combination of all contributions is the result
};

void combine_by_recipe(const Recipe& recipe, std::span<const CombineSource> sources, std::span<const CombineTarget> targets,
                       std::size_t elements, Store store) noexcept;

// A kernel for elements of which each is kFactor elements of another kernel's: the parts of a complex number, or the bytes of
// a word.
template <CombineKernel kKernel, std::size_t kFactor>
void by_parts(std::span<const CombineSource> sources, std::span<const CombineTarget> targets, std::size_t elements,
              Store store) noexcept {
  kKernel(sources, targets, elements * kFactor, store);
}

}  // namespace hcomm
