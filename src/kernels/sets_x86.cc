#include <hwy/targets.h>

#include "kernels/sets.h"

namespace hcomm {

// Highway's namespaces, one per instruction set; defined by simd_*.cc.
namespace N_SSE4 {
CombineKernel find_integers(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_floats(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_halves(hcommDataType_t dtype, hcommRedOp_t op);
}  // namespace N_SSE4
namespace N_AVX2 {
CombineKernel find_integers(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_floats(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_halves(hcommDataType_t dtype, hcommRedOp_t op);
}  // namespace N_AVX2
namespace N_AVX3 {
CombineKernel find_integers(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_floats(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_halves(hcommDataType_t dtype, hcommRedOp_t op);
}  // namespace N_AVX3

namespace {

// Asked once: each asking executes CPUID, which costs tens of microseconds in a virtual machine.
long long offered_targets() {
  static const long long offered = hwy::SupportedTargets();
  return offered;
}

template <long long kTarget>
bool cpu_offers() {
  return (offered_targets() & kTarget) != 0;
}

constexpr std::array kSets = {
    KernelSet{"scalar", runs_everywhere, {find_scalar}},
    KernelSet{"sse4", cpu_offers<HWY_SSE4>, {N_SSE4::find_integers, N_SSE4::find_floats, N_SSE4::find_halves, find_plain}},
    KernelSet{"avx2", cpu_offers<HWY_AVX2>, {N_AVX2::find_integers, N_AVX2::find_floats, N_AVX2::find_halves, find_plain}},
    KernelSet{"avx512", cpu_offers<HWY_AVX3>, {N_AVX3::find_integers, N_AVX3::find_floats, N_AVX3::find_halves, find_plain}},
};

}  // namespace

std::span<const KernelSet> all_sets() { return kSets; }

}  // namespace hcomm
