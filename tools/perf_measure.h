// Measures one row of the table: one collective at one size, checked and timed. All ranks call it with the same arguments.
#pragma once

#include <hcomm/hcomm.h>

#include <array>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/status.h"
#include "perf_options.h"
#include "perf_pattern.h"

namespace hcomm {

struct PerfCase {
  Collective collective = Collective::allreduce;
  TypeName type;
  OpName op;
  int root = 0;
  std::size_t count = 0;  // as the call takes it
  std::size_t bytes = 0;  // of the larger buffer
};

// The case of about `bytes` bytes (at least one element each). Barrier has no size.
PerfCase make_case(Collective collective, const TypeName& type, const OpName& op, int root, int ranks, std::size_t bytes);

struct PerfResult {
  bool in_place = false;
  int iterations = 0;      // calls per repetition
  double time_us = 0;      // median over repetitions of the mean per call, of the slowest rank
  double min_us = 0;       // of single calls, timed one by one in a pass of their own; slowest rank of each
  double max_us = 0;
  double p99_us = 0;
  double algbw_gbs = 0;    // 10^9 bytes per second
  double busbw_gbs = 0;
  std::uint64_t wrong = 0;  // elements, on all ranks
  std::string algorithm;
  std::string transport;
};

// What the wires would carry of the algorithm's bandwidth: allreduce 2 (n-1)/n, reduce_scatter and allgather (n-1)/n, else 1
// (and 0 for one rank, which needs no wire).
double bus_factor(Collective collective, int ranks);

class PerfBench {
 public:
  // largest: the most bytes of one buffer. The communicator is borrowed.
  static Result<PerfBench> make(hcommComm_t comm, const PerfOptions& options, std::size_t largest);
  PerfBench(PerfBench&& other) noexcept;
  PerfBench& operator=(PerfBench&&) = delete;
  ~PerfBench();

  Result<PerfResult> measure(const PerfCase& what, const Pattern& pattern, bool in_place);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  // Where one call reads and writes. For in-place calls one lies in the other.
  struct Buffers {
    Bytes send;
    Bytes recv;
  };
  using Times = std::vector<std::int64_t>;  // nanoseconds, sorted

  PerfBench() = default;

  Status allocate(std::size_t bytes);
  Buffers buffers(const PerfCase& what, bool in_place, std::size_t turn) const;
  Status call(const PerfCase& what, const Buffers& buffers) const;
  Status barrier() const;
  Result<std::uint64_t> checked_call(const PerfCase& what, const Pattern& pattern, bool in_place);
  std::uint64_t count_touched(const Pattern& pattern, const Buffers& at, bool in_place) const;
  std::uint64_t count_wrong_result(const PerfCase& what, const Pattern& pattern, Bytes result) const;
  std::uint64_t count_wrong(const PerfCase& what, const Pattern& pattern, const Buffers& buffers, bool in_place) const;
  void prepare(const PerfCase& what, const Pattern& pattern, const Buffers& buffers, bool in_place) const;
  Result<TimeNs> timed_calls(const PerfCase& what, bool in_place, int calls) const;
  Result<int> choose_iterations(const PerfCase& what, bool in_place) const;
  Result<Times> repeat(const PerfCase& what, bool in_place, int iterations) const;
  Result<Times> sample(const PerfCase& what, bool in_place, int calls) const;
  Status time(const PerfCase& what, PerfResult& result) const;
  Status agree_on_slowest(std::vector<std::int64_t>& numbers) const;
  Status failed(hcommResult_t result, std::string_view what) const;

  hcommComm_t comm_ = nullptr;
  const PerfOptions* options_ = nullptr;
  int rank_ = 0;
  int ranks_ = 1;
  std::size_t largest_ = 0;
  std::size_t memory_bytes_ = 0;
  std::byte* inputs_ = nullptr;  // memory_bytes_; several buffers, or few large ones
  std::byte* output_ = nullptr;  // largest_
  std::uint64_t salt_ = 0;       // of the last checked call
  MonotonicClock clock_;
};

}  // namespace hcomm
