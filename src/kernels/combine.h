// The arithmetic of a combine: every target = op over all sources.
//
//   Order:    the balanced binary tree over the sources in the order listed: split at the largest power of two below
//             their number, then each half by the same rule. The same expression for every element, instruction
//             set, alignment and length, so the same bits.
//   Numbers:  integer sums wrap. 16-bit floats are combined in fp32 and rounded once, to nearest even. min and max are IEEE
//             754-2019 minimum and maximum: a NaN wins, -0 is less than +0. A result of two or more sources that is a
//             NaN is the type's canonical quiet NaN (sign 0, quiet bit alone). One source is a copy, bit for bit where the
//             formats agree. Subnormals count, whatever the caller's FTZ and DAZ: float kernels run with the default
//             control word and restore the caller's, flags included.
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
};

// Of one combine; at least one. Targets may be none.
inline constexpr std::size_t kMaxCombineSources = 4096;

using CombineKernel = void (*)(std::span<const CombineSource> sources, std::span<const CombineTarget> targets,
                               std::size_t elements, Store store) noexcept;

// Bytes of one element in the element type (0: the type is not known here) and in the partial format.
std::size_t element_bytes(hcommDataType_t dtype);
std::size_t partial_bytes(hcommDataType_t dtype);

std::string_view name(hcommDataType_t dtype);  // "float32", ...; "?" for a number that names none
std::string_view name(hcommRedOp_t op);        // "sum", ...

// The types and operations that this version combines, in the order they are printed.
std::span<const hcommDataType_t> combine_types();
std::span<const hcommRedOp_t> combine_ops();

// A set of kernels for one instruction set, by name: "scalar" (the reference and judge of all others), "sse4", "avx2",
// "avx512". Best last; only those that run on this machine.
std::span<const std::string_view> kernel_sets();

// The kernel of a set ("" is the best that runs here). InvalidArgument when the type or the operation is not
// offered, or the set does not run here; the text names the legal ones.
Result<CombineKernel> find_combine(hcommDataType_t dtype, hcommRedOp_t op, std::string_view set = {});

// A plain copy of bytes into one target. Regions may not overlap.
void copy_bytes(void* target, const void* source, std::size_t bytes, Store store) noexcept;

}  // namespace hcomm
