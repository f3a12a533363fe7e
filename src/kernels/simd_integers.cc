// Integers, once per instruction set.
#include "kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_integers.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/group_inl.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace hcomm::HWY_NAMESPACE {

// Of the two integers of a width, whatever their sign; null where there are no vectors for it.
template <class T>
CombineKernel bits_kernel(hcommRedOp_t op) {
  using Bytes = SameLanes<std::uint8_t>;
  constexpr bool kIsWide = sizeof(T) >= 4;
  if (op == hcommSum) return kernel<SameLanes<T>, Sum, kIsWide ? Code::fast : Code::small>;
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    if (op == hcommProd) return kernel<SameLanes<T>, Product, Code::small>;
  }
  if (op == hcommBand) return by_parts<kernel<Bytes, BitsOfBoth, Code::small>, sizeof(T)>;
  if (op == hcommBor) return by_parts<kernel<Bytes, BitsOfEither, Code::small>, sizeof(T)>;
  if (op == hcommBxor) return by_parts<kernel<Bytes, BitsOfOne, Code::small>, sizeof(T)>;
  return nullptr;
}

template <class T, Code kCode>
CombineKernel order_kernel(hcommRedOp_t op) {
  if (op == hcommMin) return kernel<SameLanes<T>, Min, kCode>;
  if (op == hcommMax) return kernel<SameLanes<T>, Max, kCode>;
  return nullptr;
}

CombineKernel find_order(hcommDataType_t dtype, hcommRedOp_t op) {
  if (dtype == hcommInt8) return order_kernel<std::int8_t, Code::small>(op);
  if (dtype == hcommUint8) return order_kernel<std::uint8_t, Code::small>(op);
  if (dtype == hcommInt16) return order_kernel<std::int16_t, Code::small>(op);
  if (dtype == hcommUint16) return order_kernel<std::uint16_t, Code::small>(op);
  if (dtype == hcommInt32) return order_kernel<std::int32_t, Code::fast>(op);
  if (dtype == hcommUint32) return order_kernel<std::uint32_t, Code::small>(op);
  if (dtype == hcommInt64) return order_kernel<std::int64_t, Code::fast>(op);
  if (dtype == hcommUint64) return order_kernel<std::uint64_t, Code::small>(op);
  return nullptr;
}

CombineKernel find_integers(hcommDataType_t dtype, hcommRedOp_t op) {
  const KernelKind kind = same_bits(dtype, op);
  if (kind.op == hcommMin || kind.op == hcommMax) return find_order(kind.dtype, kind.op);
  if (kind.dtype == hcommUint8) return bits_kernel<std::uint8_t>(kind.op);
  if (kind.dtype == hcommUint16) return bits_kernel<std::uint16_t>(kind.op);
  if (kind.dtype == hcommUint32) return bits_kernel<std::uint32_t>(kind.op);
  if (kind.dtype == hcommUint64) return bits_kernel<std::uint64_t>(kind.op);
  return nullptr;
}

}  // namespace hcomm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR
