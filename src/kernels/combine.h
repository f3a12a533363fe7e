// The arithmetic of a combine: every target = op over all sources.
//
//   Order:    the balanced binary tree over the sources in the order listed: split at the largest power of two below
//             their number, then each half by the same rule. The same expression for every element, instruction
//             set, alignment and length, so the same bits.
//   Numbers:  integer sums and products wrap. 16- and 8-bit floats are combined in fp32 and rounded once, to nearest even.
//             min and max are IEEE 754-2019 minimum and maximum: a NaN wins, -0 is less than +0. A result of two or more
//             sources that is a NaN is the type's canonical quiet NaN (sign 0, quiet bit alone). One source is a copy, bit for
//             bit where the formats agree. Subnormals count, whatever the caller's FTZ and DAZ: float kernels run with the
//             default control word and restore the caller's, flags included.
//   Finish:   a mean is summed and, in a finished target, divided by the number of ranks, once: of integers toward zero,
//             the sum exact in a partial format that holds it. Logical results are made 0 or 1 at the latest when finished.
//             Every other target is complete as it is combined.
//   Aliasing: a target may be exactly one of the sources (same pointer and format); any other overlap is the caller's bug.
//   Threads:  any; no state. No allocation, no lock, no system call. Any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "hcomm/types.h"

namespace hcomm {

// How a target is stored. What a peer on another core reads next is cheaper to write with one of the last two on some
// machines; both are fenced before the kernel returns, so a later release store publishes them.
enum class Store : std::uint8_t { regular, non_temporal, rep_movsb };

struct CombineSource {
  const void* data = nullptr;
  bool is_partial = false;  // in the partial format (see partial_bytes), else in the element type
};

struct CombineTarget {
  void* data = nullptr;
  bool is_partial = false;
  int finished_over = 0;  // the number of ranks, if this is the result of all; else 0. Those that are not 0 are alike
};

// Of one combine; at least one. Targets may be none.
inline constexpr std::size_t kMaxCombineSources = 4096;

using CombineKernel = void (*)(std::span<const CombineSource> sources, std::span<const CombineTarget> targets,
                               std::size_t elements, Store store) noexcept;

std::size_t element_bytes(hcommDataType_t dtype);  // 0 for a number that names no type

// Of one element in the format of partial results; 0 where the type does not have the operation.
std::size_t partial_bytes(hcommDataType_t dtype, hcommRedOp_t op);

std::string_view name(hcommDataType_t dtype);  // "float32", ...; "?" for a number that names none
std::string_view name(hcommRedOp_t op);        // "sum", ...

// All types and operations, and the operations that a type has, in the order they are printed.
std::span<const hcommDataType_t> combine_types();
std::span<const hcommRedOp_t> combine_ops();
std::span<const hcommRedOp_t> combine_ops(hcommDataType_t dtype);
bool has_op(hcommDataType_t dtype, hcommRedOp_t op);

// Whether the result of so many ranks is more than the combination of their contributions: means, and what is true or false.
bool needs_finish(hcommDataType_t dtype, hcommRedOp_t op, int ranks);

// Whether a sum that is still to grow may be kept as an element, wrapped or rounded: where it is not, it would lose what the
// finished result has (the mean of large integers), or nearly all of its digits (8-bit floats).
bool sums_fit_elements(hcommDataType_t dtype, hcommRedOp_t op);

// A set of kernels for one instruction set, by name: "scalar" (the reference and judge of all others), "sse4", "avx2",
// "avx512". Best last; only those that run on this machine.
std::span<const std::string_view> kernel_sets();

// The kernel of a set ("" is the best that runs here). InvalidArgument when the type does not have the
// operation, or the set does not run here; the text names the legal ones.
Result<CombineKernel> find_combine(hcommDataType_t dtype, hcommRedOp_t op, std::string_view set = {});

// A plain copy of bytes into one target. Regions may not overlap.
void copy_bytes(void* target, const void* source, std::size_t bytes, Store store) noexcept;

}  // namespace hcomm
