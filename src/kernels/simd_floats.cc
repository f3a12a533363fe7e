// 32 and 64 bit floats, once per instruction set.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_floats.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/group_inl.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hcomm::HWY_NAMESPACE {

CombineKernel find_floats(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommFloat32) return kernel_for<SameLanes<float>>(op);
  if (dtype == hcommFloat64) return kernel_for<SameLanes<double>>(op);
  return nullptr;
}

}  // namespace hcomm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR
