// The sets of kernels that this architecture knows: records, listed by sets_<architecture>.cc.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "kernels/combine.h"

namespace hcomm {

using KernelFinder = CombineKernel (*)(hcommDataType_t dtype, hcommRedOp_t op);  // null: not of mine

struct KernelSet {
  std::string_view name;  // as written in HCOMM_KERNELS=avx2
  bool (*runs_here)();    // asks the CPU
  std::array<KernelFinder, 4> finders;  // together they offer everything, the first that does counts; unused ones are null
};

// Best last; the first is the scalar reference.
std::span<const KernelSet> all_sets();

bool runs_everywhere();
CombineKernel find_scalar(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_plain(hcommDataType_t dtype, hcommRedOp_t op);

// Types and operations that do the same to the same bits have one kernel, outside of the reference: a signed integer's
// is that of the unsigned one, unless order or size counts; a bool's is a logical one of uint8.
struct KernelKind {
  hcommDataType_t dtype;
  hcommRedOp_t op;
};
KernelKind same_bits(hcommDataType_t dtype, hcommRedOp_t op);

}  // namespace hcomm
