// Writes one rank's program. The author states data movement only: the builder derives the waits.
//
// An op waits for the earlier sends and receives of its section that it conflicts with: a send that reads what it writes,
// a receive that writes what it touches. (Combines, signals and awaits end before the next op starts, so nobody
// waits for them.) A signal also waits for every unfinished send or receive that touches a slot or an exposed
// buffer, because it tells peers that what came before it is done. An empty message is a token: its send waits for every
// receive before it.
#pragma once

#include <array>
#include <bitset>
#include <initializer_list>
#include <span>
#include <vector>

#include "schedule/schedule.h"

namespace hcomm {

class ProgramBuilder {
 public:
  // `rank` in [0, problem.ranks). The shape is for checks of the author's arithmetic, here and now.
  ProgramBuilder(const Problem& problem, const Shape& shape, int rank);

  int rank() const { return program_.rank; }
  int ranks() const { return problem_.ranks; }
  int root() const { return problem_.root; }
  const Problem& problem() const { return problem_; }
  const Shape& shape() const { return shape_; }

  // Ops go to the prologue until body() is called, then to the body until epilogue() is called.
  // An author that calls neither writes a body alone.
  void body();
  void epilogue();

  void send(const Slice& source, int peer);
  void recv(const Slice& target, int peer);
  void combine(std::span<const Slice> sources, std::span<const Slice> targets);
  void combine(std::initializer_list<Slice> sources, std::initializer_list<Slice> targets) {
    combine(std::span(sources.begin(), sources.size()), std::span(targets.begin(), targets.size()));
  }
  void copy(const Slice& source, const Slice& target) { combine({source}, {target}); }
  void signal(Phase phase);
  void await(int peer, Phase phase, int back = 0);
  void await_others(Phase phase, int back = 0);  // every other rank, starting at the right neighbour

  // Slices of this rank's own buffers, or of a peer's.
  Slice input(int first, int count = 1) const;
  Slice output(int first, int count = 1) const;
  Slice scratch(int place, int first, int count = 1) const;
  Slice slot(int owner, int place, int first, int count = 1) const;
  Slice exposed(int owner, int place, int first, int count = 1) const;
  Slice nothing() const;  // an empty message

  Program finish() &&;

 private:
  struct Pending {  // a send or receive of this section that may not have ended
    std::uint32_t op;
    Slice slice;
    bool writes;
  };

  // Sends and receives of one block of the caller's are kept by that block, so that a program of many ranks is written in a time
  // that is near linear in its length. All others are in the last list.
  static constexpr std::size_t kLists = 64;
  using Lists = std::bitset<kLists + 1>;

  Slice lying(Slice slice) const;  // its blocks numbered by where they lie in the caller's buffer
  static std::size_t list_of(const Slice& slice);
  Lists lists_to_search(const Op& op) const;
  void add_pending(const Slice& slice, bool writes);
  Op& append(OpKind kind, std::span<const Slice> sources, std::span<const Slice> targets);
  void derive_waits(Op& op);
  void close_section();

  Problem problem_;
  Shape shape_;
  Program program_;
  Section* section_ = nullptr;  // the one being written
  bool body_named_ = false;
  std::array<std::vector<Pending>, kLists + 1> pending_;
};

// Marks, in the style of `prepared(input(0))`.
constexpr Slice prepared(Slice slice) {
  slice.scaling = Scaling::prepare;
  return slice;
}
constexpr Slice finished(Slice slice) {
  slice.scaling = Scaling::finish;
  return slice;
}
constexpr Slice partial(Slice slice) {
  slice.format = Format::partial;
  return slice;
}
constexpr Slice sum(Slice slice) {
  slice.format = Format::sum;
  return slice;
}

}  // namespace hcomm
