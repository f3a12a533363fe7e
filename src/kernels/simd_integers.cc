// 32 and 64 bit integers, once per instruction set.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_integers.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/group_inl.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hcomm::HWY_NAMESPACE {

CombineKernel find_integers(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommInt32) return kernel_for<SameLanes<std::int32_t>>(op);
  if (dtype == hcommInt64) return kernel_for<SameLanes<std::int64_t>>(op);
  return nullptr;
}

}  // namespace hcomm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR
