#include "verify/mutations.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "schedule/text.h"

namespace hcomm {
namespace {

// An op with all that belongs to it, free to be moved.
struct Draft {
  Op op;
  int section = 1;
  std::vector<Slice> sources;
  std::vector<Slice> targets;
  std::vector<std::size_t> waits;  // by place in the list of drafts
};

using Drafts = std::vector<Draft>;

Drafts take_apart(const Program& program) {
  Drafts drafts;
  const std::array sections = {program.prologue, program.body, program.epilogue};
  for (int section = 0; section < 3; ++section) {
    for (const Op& op : program.section(sections[static_cast<std::size_t>(section)])) {
      Draft draft{.op = op, .section = section};
      draft.sources.assign(program.sources(op).begin(), program.sources(op).end());
      draft.targets.assign(program.targets(op).begin(), program.targets(op).end());
      draft.waits.assign(program.waits_of(op).begin(), program.waits_of(op).end());
      drafts.push_back(std::move(draft));
    }
  }
  return drafts;
}

Program put_together(const Drafts& drafts, int rank) {
  Program program;
  program.rank = rank;
  const std::array sections = {&program.prologue, &program.body, &program.epilogue};
  for (int section = 0; section < 3; ++section) {
    Section& current = *sections[static_cast<std::size_t>(section)];
    current.first = static_cast<std::uint32_t>(program.ops.size());
    for (const Draft& draft : drafts) {
      if (draft.section != section) continue;
      Op op = draft.op;
      op.first_source = static_cast<std::uint32_t>(program.slices.size());
      op.source_count = static_cast<std::uint32_t>(draft.sources.size());
      program.slices.insert(program.slices.end(), draft.sources.begin(), draft.sources.end());
      op.first_target = static_cast<std::uint32_t>(program.slices.size());
      op.target_count = static_cast<std::uint32_t>(draft.targets.size());
      program.slices.insert(program.slices.end(), draft.targets.begin(), draft.targets.end());
      op.first_wait = static_cast<std::uint32_t>(program.waits.size());
      op.wait_count = static_cast<std::uint32_t>(draft.waits.size());
      for (std::size_t wait : draft.waits) program.waits.push_back(static_cast<std::uint32_t>(wait));
      program.ops.push_back(op);
      ++current.count;
    }
    if (current.count == 0) current.first = 0;
  }
  return program;
}

class Mutator {
 public:
  explicit Mutator(const Schedule& schedule) : original_(schedule) {}

  std::vector<Mutant> all() {
    for (rank_ = 0; rank_ < original_.programs.size(); ++rank_) {
      drafts_ = take_apart(original_.programs[rank_]);
      for (place_ = 0; place_ < drafts_.size(); ++place_) mutate_op();
    }
    return std::move(mutants_);
  }

 private:
  using Change = std::function<void(Drafts&)>;

  void add(const std::string& what, const Change& change) {
    Drafts drafts = drafts_;
    change(drafts);
    Program program = put_together(drafts, static_cast<int>(rank_));
    if (program == put_together(drafts_, static_cast<int>(rank_))) return;
    Mutant mutant{.schedule = original_};
    mutant.schedule.programs[rank_] = std::move(program);
    mutant.what = "rank " + std::to_string(rank_) + " op " + std::to_string(place_) + ": " + what;
    mutants_.push_back(std::move(mutant));
  }
  void add_op(const std::string& what, const std::function<void(Draft&)>& change) {
    add(what, [&](Drafts& drafts) { change(drafts[place_]); });
  }

  void mutate_op() {
    drop();
    swap_with_next();
    const Draft draft = drafts_[place_];
    for (std::size_t wait : draft.waits) {
      add_op("forget to wait for " + std::to_string(wait), [&](Draft& self) { std::erase(self.waits, wait); });
    }
    change_numbers(draft);
    change_lists(draft);
    for (bool is_source : {true, false}) {
      const auto& list = is_source ? draft.sources : draft.targets;
      for (std::size_t i = 0; i < list.size(); ++i) mutate_slice(list[i], is_source, i);
    }
    if (draft.sources.size() + draft.targets.size() > 1) {
      for (int by : {-1, 1}) {
        const auto shift = [by](Slice& slice) { slice.first += static_cast<std::uint32_t>(by); };
        add_op("all blocks " + std::string(by < 0 ? "- 1" : "+ 1"), [&](Draft& self) {
          std::ranges::for_each(self.sources, shift);
          std::ranges::for_each(self.targets, shift);
        });
      }
      add_op("all one shorter", [](Draft& self) {
        for (auto* slices : {&self.sources, &self.targets}) {
          for (Slice& slice : *slices) --slice.count;
        }
      });
    }
  }

  void drop() {
    add("drop", [&](Drafts& drafts) {
      drafts.erase(drafts.begin() + static_cast<std::ptrdiff_t>(place_));
      for (Draft& draft : drafts) {
        std::erase(draft.waits, place_);
        for (std::size_t& wait : draft.waits) wait -= wait > place_ ? 1 : 0;
      }
    });
  }

  void swap_with_next() {
    if (place_ + 1 == drafts_.size() || drafts_[place_].section != drafts_[place_ + 1].section) return;
    add("swap with the next", [&](Drafts& drafts) {
      std::erase(drafts[place_ + 1].waits, place_);
      std::swap(drafts[place_], drafts[place_ + 1]);
      for (Draft& draft : drafts) {
        for (std::size_t& wait : draft.waits) {
          wait = wait == place_ ? place_ + 1 : wait == place_ + 1 ? place_ : wait;
        }
      }
    });
  }

  void change_numbers(const Draft& draft) {
    const bool has_peer = draft.op.peer >= 0;
    for (int peer = 0; has_peer && peer < original_.problem.ranks; ++peer) {
      if (peer == static_cast<int>(rank_)) continue;
      add_op("peer " + std::to_string(peer), [&](Draft& self) { self.op.peer = peer; });
    }
    if (draft.op.kind == OpKind::await) {
      add_op("one epoch earlier", [](Draft& self) { ++self.op.back; });
    }
    for (Phase phase : {Phase::filled, Phase::reduced, Phase::finished}) {
      const bool weaker = draft.op.kind == OpKind::await && phase < draft.op.phase;
      if (!weaker && draft.op.kind != OpKind::signal) continue;
      add_op("phase " + std::string(name(phase)), [&](Draft& self) { self.op.phase = phase; });
    }
  }

  void change_lists(const Draft& draft) {
    for (std::size_t i = 0; i < draft.sources.size(); ++i) {
      const auto at = [i](auto& list) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
      const std::string which = "source " + std::to_string(i);
      add_op("twice " + which, [&](Draft& self) { self.sources.push_back(self.sources[i]); });
      if (draft.sources.size() == 1) continue;
      add_op("drop " + which, [&](Draft& self) { self.sources.erase(at(self.sources)); });
      if (i + 1 < draft.sources.size()) {
        add_op("swap with the next " + which, [&](Draft& self) { std::swap(self.sources[i], self.sources[i + 1]); });
      }
    }
    for (std::size_t i = 0; i < draft.targets.size() && draft.targets.size() > 1; ++i) {
      add_op("drop target " + std::to_string(i),
             [&](Draft& self) { self.targets.erase(self.targets.begin() + static_cast<std::ptrdiff_t>(i)); });
    }
  }

  void mutate_slice(const Slice& old, bool is_source, std::size_t i) {
    const auto put = [&](Slice slice) {
      add_op((is_source ? "source " : "target ") + to_text(old, static_cast<int>(rank_)) + " becomes " +
                 to_text(slice, static_cast<int>(rank_)),
             [&](Draft& self) { (is_source ? self.sources : self.targets)[i] = slice; });
    };
    const auto with = [&](auto&& change) {
      Slice slice = old;
      change(slice);
      put(slice);
    };
    if (old.count == 0) {  // an empty message is a token, whatever it names
      with([&](Slice& slice) { ++slice.count; });
      return;
    }
    for (int by : {-1, 1}) {
      const auto step = static_cast<std::uint32_t>(by);
      with([&](Slice& slice) { slice.first += step; });
      with([&](Slice& slice) { slice.count += step; });
      if (has_place(old.buffer)) with([&](Slice& slice) { slice.place += step; });
    }
    for (Buffer buffer : {Buffer::input, Buffer::output, Buffer::scratch, Buffer::slot, Buffer::exposed}) {
      with([&](Slice& slice) {
        slice.buffer = buffer;
        if (!has_place(buffer)) slice.place = 0;
        if (!has_owner(buffer)) slice.owner = static_cast<int>(rank_);
      });
    }
    for (int owner = 0; has_owner(old.buffer) && owner < original_.problem.ranks; ++owner) {
      with([&](Slice& slice) { slice.owner = owner; });
    }
    for (Scaling scaling : {Scaling::none, Scaling::prepare, Scaling::finish}) {
      with([&](Slice& slice) { slice.scaling = scaling; });
    }
    for (Format format : {Format::element, Format::partial, Format::sum}) with([&](Slice& slice) { slice.format = format; });
  }

  const Schedule& original_;
  std::size_t rank_ = 0;
  std::size_t place_ = 0;
  Drafts drafts_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> all_mutants(const Schedule& schedule) { return Mutator(schedule).all(); }

}  // namespace hcomm
