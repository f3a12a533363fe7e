#include "verify/form.h"

#include <algorithm>
#include <set>

#include "schedule/binding.h"
#include "schedule/text.h"

namespace hcomm {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

Judgement refuse(Fault fault, std::string story) { return {.fault = fault, .story = std::move(story)}; }

bool fits(std::uint64_t first, std::uint64_t count, std::uint64_t size) { return first + count <= size; }

enum class Role : std::uint8_t { source, target };

// One op of one program, as the checks below see it.
struct Line {
  const Schedule& schedule;
  const Program& program;
  std::uint32_t index;
  const Op& op;

  std::string text() const {
    return "rank " + std::to_string(program.rank) + " op " + number(index) + " `" + to_text(program, op) + "`: ";
  }
  Judgement malformed(const std::string& why) const { return refuse(Fault::malformed, text() + why); }
  Judgement out_of_bounds(const std::string& why) const { return refuse(Fault::bounds, text() + why); }
};

// Which blocks the caller of `rank` passes, or receives.
bool has_block(const Problem& problem, const Shape& shape, Buffer buffer, int rank, const Slice& slice) {
  const Side side = buffer == Buffer::output ? Side::output : Side::input;
  const HeldBlocks held = held_blocks(problem, shape.blocks, side, rank);
  if (!fits(slice.first, slice.count, static_cast<std::uint64_t>(shape.blocks))) return false;
  const auto first = static_cast<int>(slice.first);
  return held.has(first) && held.has(first + static_cast<int>(slice.count) - 1) && (slice.count == 1 || held.step == 1);
}

Judgement check_place(const Line& line, const Slice& slice, const std::string& what) {
  const Shape& shape = line.schedule.shape;
  const bool is_scratch = slice.buffer == Buffer::scratch;
  const int units = is_scratch ? shape.scratch_units : shape.slot_units;
  if (!fits(slice.place, slice.count, static_cast<std::uint64_t>(units))) {
    const std::string where = is_scratch ? "scratch" : "a slot";
    return line.out_of_bounds(what + " ends past the " + std::to_string(units) + " units of " + where);
  }
  if (!fits(slice.first, slice.count, static_cast<std::uint64_t>(shape.blocks))) {
    return line.out_of_bounds(what + " names blocks past the " + std::to_string(shape.blocks) + " of a chunk");
  }
  return {};
}

Judgement check_target(const Line& line, const Slice& slice, const std::string& what) {
  const int rank = line.program.rank;
  if (slice.buffer == Buffer::input) return line.out_of_bounds("writes " + what + ", but an input is read only");
  if (slice.owner != rank) {
    return line.out_of_bounds("writes " + what + ", but only rank " + std::to_string(slice.owner) + " may write there");
  }
  if (slice.buffer != Buffer::exposed) return {};
  const auto sources = line.program.sources(line.op);
  const bool is_copy = line.op.kind == OpKind::combine && sources.size() == 1 && line.op.target_count == 1;
  const bool shows_input = is_copy && sources[0].buffer == Buffer::input &&
                           sources[0].scaling == Scaling::none && slice.scaling == Scaling::none;
  if (!shows_input) {
    return line.out_of_bounds("writes " + what + ", which may be the rank's input itself: only a plain copy of the same "
                              "blocks of the input, and to nowhere else, may go there");
  }
  return {};
}

Judgement check_slice(const Line& line, const Slice& slice, Role role) {
  const Problem& problem = line.schedule.problem;
  const int rank = line.program.rank;
  const std::string what = to_text(slice, rank);
  if (slice.owner < 0 || slice.owner >= problem.ranks) return line.malformed(what + " belongs to no rank");
  if (!has_owner(slice.buffer) && slice.owner != rank) return line.out_of_bounds(what + " is private to another rank");
  if (!has_place(slice.buffer) && slice.place != 0) return line.malformed(what + " has a place, but no units");
  if (slice.count == 0) {
    return line.op.kind == OpKind::combine ? line.malformed(what + " is empty") : Judgement{};
  }
  if (problem.collective == Collective::barrier) return line.out_of_bounds(what + ": a barrier has no blocks");
  if (has_place(slice.buffer)) {
    if (Judgement judgement = check_place(line, slice, what); !judgement.proved()) return judgement;
  }
  const bool is_input = slice.buffer == Buffer::input || slice.buffer == Buffer::exposed;
  const Buffer caller = is_input ? Buffer::input : Buffer::output;
  if ((is_input || slice.buffer == Buffer::output) && !has_block(problem, line.schedule.shape, caller, slice.owner, slice)) {
    return line.out_of_bounds(what + ": the " + std::string(name(caller)) + " of rank " + std::to_string(slice.owner) +
                              " has no such blocks");
  }
  if ((is_input || slice.buffer == Buffer::output) && slice.format != Format::element) {
    return line.out_of_bounds(what + ": the caller's memory has no room for partial results");
  }
  return role == Role::target ? check_target(line, slice, what) : Judgement{};
}

Judgement check_scaling(const Line& line) {
  const bool scales = line.op.kind == OpKind::combine && reduces(line.schedule.problem.collective);
  for (const Slice& slice : line.program.sources(line.op)) {
    if (slice.scaling == Scaling::none || (scales && slice.scaling == Scaling::prepare)) continue;
    return line.malformed("only a source of a reduction's combine can be prepared");
  }
  for (const Slice& slice : line.program.targets(line.op)) {
    if (slice.scaling == Scaling::none || (scales && slice.scaling == Scaling::finish)) continue;
    return line.malformed("only a target of a reduction's combine can be finished");
  }
  return {};
}

Judgement check_operands(const Line& line) {
  const auto sources = line.program.sources(line.op);
  const auto targets = line.program.targets(line.op);
  const bool moves = line.op.kind == OpKind::send || line.op.kind == OpKind::recv;
  const std::size_t wanted_sources = line.op.kind == OpKind::send ? 1 : 0;
  const std::size_t wanted_targets = line.op.kind == OpKind::recv ? 1 : 0;
  if (line.op.kind == OpKind::combine) {
    if (sources.empty() || targets.empty()) return line.malformed("needs a source and a target");
  } else if (sources.size() != wanted_sources || targets.size() != wanted_targets) {
    return line.malformed(moves ? "needs exactly one slice" : "takes no slices");
  }
  for (const Slice& slice : sources) {
    if (Judgement judgement = check_slice(line, slice, Role::source); !judgement.proved()) return judgement;
  }
  for (const Slice& slice : targets) {
    if (Judgement judgement = check_slice(line, slice, Role::target); !judgement.proved()) return judgement;
  }
  for (const auto& slices : {sources, targets}) {
    for (const Slice& slice : slices) {
      const Slice& first = sources.empty() ? targets[0] : sources[0];
      if (slice.first == first.first && slice.count == first.count) continue;
      return line.malformed("combines different blocks: " + to_text(first, line.program.rank) + " and " +
                            to_text(slice, line.program.rank));
    }
  }
  return check_scaling(line);
}

Judgement check_op(const Line& line, const Section& section) {
  const Problem& problem = line.schedule.problem;
  const bool has_peer = line.op.kind == OpKind::send || line.op.kind == OpKind::recv || line.op.kind == OpKind::await;
  if (has_peer && (line.op.peer < 0 || line.op.peer >= problem.ranks || line.op.peer == line.program.rank)) {
    return line.malformed("its peer is not another rank");
  }
  if ((line.op.kind == OpKind::await || line.op.kind == OpKind::signal) && !uses_window(line.schedule.shape)) {
    return line.malformed("a schedule without slots has no epochs, and so no steps");
  }
  if (line.op.kind == OpKind::await && line.op.back > problem.slots) {
    return line.malformed("looks back further than the " + std::to_string(problem.slots) + " slots");
  }
  for (std::uint32_t wait : line.program.waits_of(line.op)) {
    const bool is_earlier = section.first <= wait && wait < line.index;
    const OpKind kind = is_earlier ? line.program.ops[wait].kind : OpKind::combine;
    if (kind == OpKind::send || kind == OpKind::recv) continue;
    return line.malformed("waits for op " + number(wait) + ", which is no earlier send or receive of its section");
  }
  return check_operands(line);
}

Judgement check_layout(const Program& program, const std::string& who) {
  std::uint64_t expected = 0;
  for (const Section& section : {program.prologue, program.body, program.epilogue}) {
    if (section.count == 0) continue;
    if (section.first != expected) return refuse(Fault::malformed, who + ": its sections do not follow each other");
    expected += section.count;
  }
  if (expected != program.ops.size()) return refuse(Fault::malformed, who + ": its sections are not all of its ops");
  for (const Op& op : program.ops) {
    const bool inside = fits(op.first_source, op.source_count, program.slices.size()) &&
                        fits(op.first_target, op.target_count, program.slices.size()) &&
                        fits(op.first_wait, op.wait_count, program.waits.size());
    if (!inside) return refuse(Fault::malformed, who + ": an op names slices or waits that do not exist");
  }
  return {};
}

Judgement check_program(const Schedule& schedule, const Program& program) {
  if (Judgement judgement = check_layout(program, "rank " + std::to_string(program.rank)); !judgement.proved()) return judgement;
  for (const Section& section : {program.prologue, program.body, program.epilogue}) {
    for (std::uint32_t i = section.first; i < section.first + section.count; ++i) {
      const Line line{schedule, program, i, program.ops[i]};
      if (Judgement judgement = check_op(line, section); !judgement.proved()) return judgement;
    }
  }
  return {};
}

std::string problem_fault(const Schedule& schedule) {
  const Problem& problem = schedule.problem;
  const Shape& shape = schedule.shape;
  if (problem.ranks < 1 || problem.ranks > kMaxRanks) return "ranks must be 1 to " + std::to_string(kMaxRanks);
  if (problem.root < 0 || problem.root >= problem.ranks) return "the root is no rank";
  if (!has_root(problem.collective) && problem.root != 0) return "this collective has no root; it must be 0";
  if (problem.slots < 1 || problem.slots > kMaxSlots) return "slots must be 1 to " + std::to_string(kMaxSlots);
  if (is_strided(problem.collective)) {
    if (shape.blocks != strided_blocks(problem.collective, problem.ranks)) {
      const bool of_pairs = problem.collective == Collective::alltoall;
      return std::string("this collective has one block for each ") + (of_pairs ? "pair of ranks" : "rank");
    }
  } else if (shape.blocks < 1 || shape.blocks > kMaxBlocks) {
    return "blocks must be 1 to " + std::to_string(kMaxBlocks);
  }
  const int units = std::max(shape.scratch_units, shape.slot_units);
  if (shape.scratch_units < 0 || shape.slot_units < 0 || units > kMaxUnits) {
    return "scratch and window units must be 0 to " + std::to_string(kMaxUnits);
  }
  const int in_a_buffer = is_strided(problem.collective) ? problem.ranks : shape.blocks;
  const std::int64_t largest = std::max({in_a_buffer, shape.scratch_units, shape.slot_units * problem.slots});
  if (largest * problem.ranks > kMaxBlocksOfAllRanks) return "it is too large to be judged";
  if (schedule.programs.size() != static_cast<std::size_t>(problem.ranks)) return "there must be one program for each rank";
  for (int rank = 0; rank < problem.ranks; ++rank) {
    if (schedule.programs[static_cast<std::size_t>(rank)].rank != rank) return "the programs are not in rank order";
  }
  return {};
}

}  // namespace

Judgement check_form(const Schedule& schedule) {
  const std::string fault = problem_fault(schedule);
  if (!fault.empty()) return refuse(Fault::malformed, "the schedule is malformed: " + fault);
  std::uint64_t blocks = 0;
  for (const Program& program : schedule.programs) {
    if (Judgement judgement = check_program(schedule, program); !judgement.proved()) return judgement;
    for (const Slice& slice : program.slices) blocks += slice.count;
  }
  if (blocks > kMaxTouchedBlocks) return refuse(Fault::malformed, "the schedule is malformed: it is too large to be judged");
  return {};
}

Judgement check_calls(std::span<const Call> calls) {
  std::set<const Schedule*> checked;
  for (const Call& call : calls) {
    HCOMM_ASSERT(call.schedule != nullptr && call.chunks >= 0);
    if (checked.insert(call.schedule).second) {
      if (Judgement judgement = check_form(*call.schedule); !judgement.proved()) return judgement;
    }
    const Problem& problem = call.schedule->problem;
    const Problem& first = calls.front().schedule->problem;
    if (problem.ranks != first.ranks || problem.slots != first.slots) {
      return refuse(Fault::malformed, "the calls have different numbers of ranks or slots");
    }
  }
  return {};
}

}  // namespace hcomm
