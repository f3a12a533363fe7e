// What ranks put into their buffers, and what must come out, bit for bit.
//
// An element's value depends on its rank and its place, with a period that is a prime, so that data shifted by any block is
// seen; `salt` shifts all of it from call to call, so that yesterday's data is seen too. Integers use all bits (sums wrap).
// Floats are whole numbers so small that every partial sum is exact in the type, in any order; factors are powers of two. The
// results are those of the scalar kernels, which are the judge of all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "perf_options.h"

namespace hcomm {

class Pattern {
 public:
  static constexpr std::size_t kPeriod = 10007;

  Pattern(TypeName type, hcommRedOp_t op, int ranks);

  // The elements [first, first + bytes / type size) of a rank's contribution.
  void fill(Bytes target, int rank, std::size_t first, std::uint64_t salt) const;

  // How many elements are not what the rank contributed, or not the reduction over all ranks.
  std::uint64_t count_wrong(ConstBytes got, int rank, std::size_t first, std::uint64_t salt) const;
  std::uint64_t count_wrong_reduction(ConstBytes got, std::size_t first, std::uint64_t salt) const;

 private:
  std::vector<std::byte> table_of(int rank) const;

  TypeName type_;
  hcommRedOp_t op_;
  int ranks_;
  std::vector<std::byte> reduced_;  // one period of the reduction over all ranks
};

}  // namespace hcomm
