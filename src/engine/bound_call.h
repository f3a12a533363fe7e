// A schedule bound to one call: sizes, memory and arithmetic. What the engine runs. Plain data; cheap to copy but for
// nothing: everything is borrowed and must outlive the run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/combine.h"
#include "schedule/binding.h"
#include "schedule/schedule.h"
#include "transport/local_memory.h"

namespace hcomm {

// The part that depends on sizes and types alone, the same for each call of its kind; cached.
struct CallPlan {
  const Problem* problem = nullptr;
  const Shape* shape = nullptr;
  const Program* program = nullptr;  // this rank's
  Partition partition;
  std::size_t element_bytes = 0;
  std::size_t partial_bytes = 0;
  bool sums_are_elements = true;  // what Format::sum is; else partials
  std::size_t unit_bytes = 0;     // of scratch and slots
  std::size_t scratch_bytes = 0;  // of the whole call
  bool inline_slots = false;      // slots lie in the step lines: every rank finds the same
  CombineKernel combine = nullptr;  // null where nothing is reduced
  int finish_over = 0;  // by how many ranks the kernel finishes what is marked so; 0: such results are complete as they are
};

struct BoundCall {
  const CallPlan* plan = nullptr;
  const std::byte* input = nullptr;  // null where this rank has none
  std::byte* output = nullptr;
  WindowRef window;        // where the input lies ...
  bool windowed = false;   // ... if peers are to read it there instead of a staged copy
  const UnequalBlocks* unequal = nullptr;  // of a V variant
  std::uint64_t digest = 0;  // of what all ranks must call alike
};

}  // namespace hcomm
