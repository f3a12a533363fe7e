#include "depth.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/assert.h"

namespace hcomm {
namespace {

constexpr int kUnknown = -1;

// One rank on its way. A depth is the number of messages and flags in a row that lie behind.
struct Walker {
  const Program* program = nullptr;
  std::size_t next = 0;
  int depth = 0;
  std::map<Phase, int> signals;
  std::vector<int> ends;  // by op: when a send or receive ended
};

class Walk {
 public:
  explicit Walk(const Schedule& schedule) {
    for (const Program& program : schedule.programs) {
      walkers_.push_back({.program = &program, .ends = std::vector<int>(program.ops.size(), kUnknown)});
    }
  }

  int run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Walker& walker : walkers_) {
        while (advance(walker)) moved = true;
      }
    }
    int deepest = 0;
    for (Walker& walker : walkers_) {
      HCOMM_ASSERT(walker.next == walker.program->ops.size());
      meet(walker);
      for (const int end : walker.ends) walker.depth = std::max(walker.depth, end);
      deepest = std::max(deepest, walker.depth);
    }
    return deepest;
  }

 private:
  // Receives that have started and whose messages are sent by now.
  void meet(Walker& walker) {
    const Program& program = *walker.program;
    std::map<int, std::size_t> nth;
    for (std::size_t index = 0; index < walker.next; ++index) {
      const Op& op = program.ops[index];
      if (op.kind != OpKind::recv) continue;
      const std::vector<int>& sent = sent_[{op.peer, program.rank}];
      const std::size_t which = nth[op.peer]++;
      if (which < sent.size()) walker.ends[index] = sent[which] + 1;
    }
  }

  // False if an end that is needed is not known yet.
  bool wait_for(Walker& walker, std::span<const std::uint32_t> ops) {
    for (const std::uint32_t index : ops) {
      if (walker.ends[index] == kUnknown) return false;
    }
    for (const std::uint32_t index : ops) walker.depth = std::max(walker.depth, walker.ends[index]);
    return true;
  }

  bool advance(Walker& walker) {
    const Program& program = *walker.program;
    if (walker.next == program.ops.size()) return false;
    meet(walker);
    const Op& op = program.ops[walker.next];
    std::vector<std::uint32_t> needed(program.waits_of(op).begin(), program.waits_of(op).end());
    if (walker.next == program.body.first || (program.epilogue.count > 0 && walker.next == program.epilogue.first)) {
      for (std::size_t index = 0; index < walker.next; ++index) {  // a section ends with all its messages
        const OpKind kind = program.ops[index].kind;
        if (kind == OpKind::send || kind == OpKind::recv) needed.push_back(static_cast<std::uint32_t>(index));
      }
    }
    if (!wait_for(walker, needed)) return false;
    switch (op.kind) {
      case OpKind::send:
        sent_[{program.rank, op.peer}].push_back(walker.depth);
        walker.ends[walker.next] = walker.depth;
        break;
      case OpKind::signal:
        walker.signals[op.phase] = walker.depth;
        break;
      case OpKind::await: {
        if (op.back > 0) break;
        const auto& signals = walkers_[static_cast<std::size_t>(op.peer)].signals;
        const auto raised = signals.lower_bound(op.phase);
        if (raised == signals.end()) return false;
        walker.depth = std::max(walker.depth, raised->second + 1);
        break;
      }
      case OpKind::recv:
      case OpKind::combine:
        break;
    }
    ++walker.next;
    return true;
  }

  std::vector<Walker> walkers_;
  std::map<std::pair<int, int>, std::vector<int>> sent_;  // depths, by (from, to)
};

}  // namespace

int depth_of(const Schedule& schedule) { return Walk(schedule).run(); }

}  // namespace hcomm
