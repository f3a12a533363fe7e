// 16 bit floats, once per instruction set.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_halves.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/group_inl.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hcomm::HWY_NAMESPACE {

CombineKernel find_halves(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommFloat16) return float_kernel<Float16Lanes>(op);
  if (dtype == hcommBfloat16) return float_kernel<Bfloat16Lanes>(op);
  return nullptr;
}

}  // namespace hcomm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR
