// A schedule: for each rank of a problem, a short program. Plain data; whoever holds it may copy and compare it.
//
// A program has three sections. The prologue runs once, the body once per chunk, the epilogue once. Each chunk has an
// epoch of its own; the prologue belongs to the first chunk's epoch and the epilogue to the last one's. A call
// without elements has no chunks and runs nothing (a barrier has exactly one chunk, of no bytes). A schedule that uses no
// window (see uses_window) takes no epochs at all.
//
// Inside a program, ops start in program order. A combine, a signal and an await end before the next op starts; sends and
// receives end on their own, and whoever needs that waits for them. At the end of each section's run (of each
// iteration of the body) all of its sends and receives have ended.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/op.h"
#include "schedule/problem.h"

namespace hcomm {

struct Section {
  std::uint32_t first = 0;  // ops [first, first + count)
  std::uint32_t count = 0;

  friend bool operator==(const Section&, const Section&) = default;
};

struct Program {
  int rank = 0;
  Section prologue;
  Section body;
  Section epilogue;
  std::vector<Op> ops;
  std::vector<Slice> slices;
  std::vector<std::uint32_t> waits;

  std::span<const Op> section(Section which) const { return std::span(ops).subspan(which.first, which.count); }
  std::span<const Slice> sources(const Op& op) const {
    return std::span(slices).subspan(op.first_source, op.source_count);
  }
  std::span<const Slice> targets(const Op& op) const {
    return std::span(slices).subspan(op.first_target, op.target_count);
  }
  std::span<const std::uint32_t> waits_of(const Op& op) const {
    return std::span(waits).subspan(op.first_wait, op.wait_count);
  }

  friend bool operator==(const Program&, const Program&) = default;
};

struct Schedule {
  std::string algorithm;  // the name its author gave it
  Problem problem;
  Shape shape;
  std::vector<Program> programs;  // one per rank, in rank order

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// Identifies what one rank runs: the problem, the shape and the program, every bit of them. The same on every machine.
std::uint64_t hash(const Problem& problem, const Shape& shape, const Program& program);

// Identifies the whole: what all ranks run.
std::uint64_t hash(const Schedule& schedule);

}  // namespace hcomm
