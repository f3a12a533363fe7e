#include "verify/expression.h"

#include <bit>
#include <utility>

#include "base/assert.h"

namespace hcomm {
namespace {

constexpr std::size_t kLongestText = 160;

constexpr std::size_t kFirstTable = 1024;

}  // namespace

Expressions::Expressions() : nodes_(1), table_(kFirstTable) {}

std::size_t Expressions::hash(const Node& node) {
  std::uint64_t mixed = static_cast<std::uint64_t>(node.kind);
  const auto pair = [](std::uint64_t high, std::uint64_t low) { return high << 32 | low; };
  for (std::uint64_t part : {pair(node.leaf.rank, node.leaf.block), pair(node.leaf.call, node.leaf.chunk),
                             pair(node.left, node.right)}) {
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 32;
  }
  return static_cast<std::size_t>(mixed);
}

void Expressions::grow() {
  std::vector<Value> larger(table_.size() * 2);
  for (Value value : table_) {
    if (value == kUnwritten) continue;
    std::size_t place = hash(nodes_[value]) & (larger.size() - 1);
    while (larger[place] != kUnwritten) place = (place + 1) & (larger.size() - 1);
    larger[place] = value;
  }
  table_ = std::move(larger);
}

Value Expressions::intern(const Node& node) {
  if (nodes_.size() * 2 > table_.size()) grow();
  std::size_t place = hash(node) & (table_.size() - 1);
  while (table_[place] != kUnwritten) {
    if (nodes_[table_[place]] == node) return table_[place];
    place = (place + 1) & (table_.size() - 1);
  }
  table_[place] = static_cast<Value>(nodes_.size());
  nodes_.push_back(node);
  return table_[place];
}

Value Expressions::raw(const Contribution& contribution) { return intern({.kind = Kind::raw, .leaf = contribution}); }

Value Expressions::prepared(Value raw_value) {
  HCOMM_ASSERT(stage(raw_value) == Stage::raw);
  return intern({.kind = Kind::prepared, .left = raw_value});
}

Value Expressions::combined(std::span<const Value> sources) {
  HCOMM_ASSERT(!sources.empty());
  if (sources.size() == 1) return sources[0];
  const std::size_t split = std::bit_ceil(sources.size()) / 2;  // the largest power of two below their number
  const Value left = combined(sources.first(split));
  const Value right = combined(sources.subspan(split));
  return intern({.kind = Kind::combined, .left = left, .right = right});
}

Value Expressions::finished(Value value) { return intern({.kind = Kind::finished, .left = value}); }

Value Expressions::rounded(Value value) {
  switch (nodes_[value].kind) {
    case Kind::unwritten:
    case Kind::raw:
    case Kind::rounded:  return value;
    case Kind::prepared:
    case Kind::combined:
    case Kind::finished: return intern({.kind = Kind::rounded, .left = value});
  }
  unreachable();
}

Stage Expressions::stage(Value value) const {
  switch (nodes_[value].kind) {
    case Kind::unwritten: return Stage::unwritten;
    case Kind::raw:       return Stage::raw;
    case Kind::prepared:
    case Kind::combined:  return Stage::prepared;
    case Kind::finished:  return Stage::finished;
    case Kind::rounded:   return stage(nodes_[value].left);  // never rounded twice: one step deep
  }
  unreachable();
}

std::vector<Contribution> Expressions::contributions(Value value, std::size_t limit) const {
  std::vector<Contribution> found;
  std::vector<Value> open = {value};
  while (!open.empty() && found.size() < limit) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    switch (node.kind) {
      case Kind::unwritten: break;
      case Kind::raw:       found.push_back(node.leaf); break;
      case Kind::combined:
        open.push_back(node.right);
        open.push_back(node.left);
        break;
      case Kind::prepared:
      case Kind::rounded:
      case Kind::finished:  open.push_back(node.left); break;
    }
  }
  return found;
}

void Expressions::append_text(Value value, std::string& text) const {
  if (text.size() > kLongestText) return;
  const Node& node = nodes_[value];
  const auto wrap = [&](const char* before) {
    text += before;
    append_text(node.left, text);
    text += ")";
  };
  switch (node.kind) {
    case Kind::unwritten: text += "nothing"; break;
    case Kind::raw:       text += "input of " + std::to_string(node.leaf.rank); break;
    case Kind::prepared:  text += std::to_string(nodes_[node.left].leaf.rank); break;
    case Kind::rounded:   wrap("round("); break;
    case Kind::finished:  wrap("finish("); break;
    case Kind::combined:
      text += "(";
      append_text(node.left, text);
      text += " + ";
      append_text(node.right, text);
      text += ")";
      break;
  }
}

std::string Expressions::text(Value value) const {
  std::string text;
  append_text(value, text);
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + "...";
  return text;
}

}  // namespace hcomm
