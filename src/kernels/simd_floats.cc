// 32 and 64 bit floats and complex numbers of them, once per instruction set.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_floats.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/group_inl.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hcomm::HWY_NAMESPACE {

template <class T>
CombineKernel complex_kernel(hcommRedOp_t op) {
  if (op == hcommSum) return by_parts<kernel<SameLanes<T>, Sum>, 2>;
  if (op == hcommAvg) return by_parts<mean_kernel<SameLanes<T>>, 2>;
  return nullptr;
}

CombineKernel find_floats(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommFloat32) return float_kernel<SameLanes<float>>(op);
  if (dtype == hcommFloat64) return float_kernel<SameLanes<double>>(op);
  if (dtype == hcommComplex64) return complex_kernel<float>(op);
  if (dtype == hcommComplex128) return complex_kernel<double>(op);
  return nullptr;
}

}  // namespace hcomm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR
