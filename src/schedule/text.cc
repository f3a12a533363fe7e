#include "schedule/text.h"

namespace hcomm {
namespace {

std::string range_text(std::uint64_t first, std::uint64_t count) {
  if (count == 1) return "[" + std::to_string(first) + "]";
  return "[" + std::to_string(first) + ".." + std::to_string(first + count) + ")";
}

std::string list_text(std::span<const Slice> slices, int rank) {
  std::string text;
  for (const Slice& slice : slices) {
    if (!text.empty()) text += ", ";
    text += to_text(slice, rank);
  }
  return text;
}

void append_section(std::string& text, const Program& program, const Section& section, std::string_view heading) {
  if (section.first == 0 && section.count == 0) return;
  text.append("  ").append(heading).append("\n");
  std::uint32_t number = section.first;
  for (const Op& op : program.section(section)) {
    text.append("    ").append(std::to_string(number++)).append(" ").append(to_text(program, op)).append("\n");
  }
}

}  // namespace

std::string to_text(const Slice& slice, int rank) {
  std::string text;
  switch (slice.scaling) {
    case Scaling::none:    break;
    case Scaling::prepare: text = "prepare "; break;
    case Scaling::finish:  text = "finish "; break;
  }
  text += name(slice.buffer);
  if (has_owner(slice.buffer) || slice.owner != rank) text += "(" + std::to_string(slice.owner) + ")";
  if (has_place(slice.buffer) || slice.place != 0) text += "@" + std::to_string(slice.place);
  text += range_text(slice.first, slice.count);
  switch (slice.format) {
    case Format::element: break;
    case Format::partial: text += ".partial"; break;
    case Format::sum:     text += ".sum"; break;
  }
  return text;
}

std::string to_text(const Program& program, const Op& op) {
  std::string text(name(op.kind));
  switch (op.kind) {
    case OpKind::send:
      text += " " + list_text(program.sources(op), program.rank) + " to " + std::to_string(op.peer);
      break;
    case OpKind::recv:
      text += " " + list_text(program.targets(op), program.rank) + " from " + std::to_string(op.peer);
      break;
    case OpKind::combine:
      text += " " + list_text(program.targets(op), program.rank) + " <- " + list_text(program.sources(op), program.rank);
      break;
    case OpKind::signal:
      text.append(" ").append(name(op.phase));
      break;
    case OpKind::await:
      text.append(" ").append(name(op.phase)).append(" of ").append(std::to_string(op.peer));
      if (op.back != 0) text += " back " + std::to_string(op.back);
      break;
  }
  if (op.lane != Lane::collective) text.append(" lane ").append(name(op.lane));
  if (op.wait_count != 0) text += " after";
  for (std::uint32_t wait : program.waits_of(op)) text += " " + std::to_string(wait);
  return text;
}

std::string to_text(const Schedule& schedule) {
  const Problem& problem = schedule.problem;
  const Shape& shape = schedule.shape;
  std::string text = "schedule ";
  text.append(name(problem.collective)).append(" algorithm=").append(schedule.algorithm);
  text += " ranks=" + std::to_string(problem.ranks) + " root=" + std::to_string(problem.root);
  text += " slots=" + std::to_string(problem.slots) + " blocks=" + std::to_string(shape.blocks);
  text += " scratch=" + std::to_string(shape.scratch_units) + " window=" + std::to_string(shape.slot_units) + "\n";
  for (const Program& program : schedule.programs) {
    text += "rank " + std::to_string(program.rank) + "\n";
    append_section(text, program, program.prologue, "prologue");
    append_section(text, program, program.body, "body");
    append_section(text, program, program.epilogue, "epilogue");
  }
  return text;
}

}  // namespace hcomm
