#include <type_traits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "schedule/schedule.h"

namespace hcomm {
namespace {

class Hasher {
 public:
  Hasher() { XXH64_reset(&state_, 0); }

  void add(std::uint64_t value) {  // byte by byte in one order, so that every machine finds the same hash
    unsigned char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
    XXH64_update(&state_, bytes, sizeof bytes);
  }
  template <class Enum>
    requires std::is_enum_v<Enum>
  void add(Enum value) {
    add(static_cast<std::uint64_t>(value));
  }
  std::uint64_t value() const { return XXH64_digest(&state_); }

 private:
  XXH64_state_t state_;
};

void add(Hasher& hasher, const Section& section) {
  hasher.add(section.first);
  hasher.add(section.count);
}

void add(Hasher& hasher, const Slice& slice) {
  hasher.add(slice.buffer);
  hasher.add(slice.format);
  hasher.add(slice.scaling);
  hasher.add(static_cast<std::uint64_t>(slice.owner));
  hasher.add(slice.first);
  hasher.add(slice.count);
  hasher.add(slice.place);
}

void add(Hasher& hasher, const Op& op) {
  hasher.add(op.kind);
  hasher.add(op.phase);
  hasher.add(op.back);
  hasher.add(op.lane);
  hasher.add(static_cast<std::uint64_t>(op.peer));
  hasher.add(op.first_source);
  hasher.add(op.source_count);
  hasher.add(op.first_target);
  hasher.add(op.target_count);
  hasher.add(op.first_wait);
  hasher.add(op.wait_count);
}

}  // namespace

std::uint64_t hash(const Problem& problem, const Shape& shape, const Program& program) {
  Hasher hasher;
  hasher.add(problem.collective);
  for (int value : {problem.ranks, problem.root, problem.slots, shape.blocks, shape.scratch_units, shape.slot_units,
                    program.rank}) {
    hasher.add(static_cast<std::uint64_t>(value));
  }
  for (const Section& section : {program.prologue, program.body, program.epilogue}) add(hasher, section);
  hasher.add(std::uint64_t{program.ops.size()});
  for (const Op& op : program.ops) add(hasher, op);
  for (const Slice& slice : program.slices) add(hasher, slice);
  for (std::uint32_t wait : program.waits) hasher.add(wait);
  return hasher.value();
}

std::uint64_t hash(const Schedule& schedule) {
  Hasher hasher;
  for (const Program& program : schedule.programs) hasher.add(hash(schedule.problem, schedule.shape, program));
  return hasher.value();
}

}  // namespace hcomm
