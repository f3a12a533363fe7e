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
  std::array<KernelFinder, 3> finders;  // together they offer everything; unused ones are null
};

// Best last; the first is the scalar reference.
std::span<const KernelSet> all_sets();

bool runs_everywhere();
CombineKernel find_scalar(hcommDataType_t dtype, hcommRedOp_t op);

}  // namespace hcomm
