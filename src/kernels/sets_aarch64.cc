#include "kernels/sets.h"

namespace hcomm {

// Highway's namespace, defined by simd_*.cc.
namespace N_NEON {
CombineKernel find_integers(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_floats(hcommDataType_t dtype, hcommRedOp_t op);
CombineKernel find_halves(hcommDataType_t dtype, hcommRedOp_t op);
}  // namespace N_NEON

namespace {

constexpr std::array kSets = {
    KernelSet{"scalar", runs_everywhere, {find_scalar}},
    KernelSet{"neon", runs_everywhere, {N_NEON::find_integers, N_NEON::find_floats, N_NEON::find_halves, find_plain}},
};

}  // namespace

std::span<const KernelSet> all_sets() { return kSets; }

}  // namespace hcomm
