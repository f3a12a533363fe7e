// The caller's side of a call: it fills the inputs, and takes the outputs, which must be right.
//
// Right is, for each block: allreduce, reduce_scatter (own block): finish of every rank's prepared contribution, each once, in
// the same expression on all ranks; reduce: the same, on the root alone; broadcast: the root's block, bare; allgather: block b
// is rank b's, bare; barrier: every rank has come before any rank leaves.
#pragma once

#include "verify/world.h"

namespace hcomm {

// `who` is the caller of a rank at its time.
void fill_inputs(World& world, const Access& who);
Judgement take_outputs(World& world, const Access& who);

}  // namespace hcomm
