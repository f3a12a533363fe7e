#include "perf_measure.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/handles.h"
#include "schedule/blocks.h"

namespace hcomm {
namespace {

constexpr int kMaxIterations = 20'000;
constexpr int kMinSamples = 5;
constexpr int kMaxSamples = 1000;
constexpr std::size_t kMaxTurns = 8;              // input buffers that calls take in turn
constexpr std::size_t kPageBytes = 4096;
constexpr int kPoison = 0xdb;
constexpr int kCheckedCalls = 2;                  // before the timing; one more follows it

std::size_t parts(Collective collective, Side side, int ranks) {
  return static_cast<std::size_t>(parts_of(collective, side, ranks));
}

std::uint64_t count_others(Bytes bytes, std::byte wanted) {
  return bytes.size() - static_cast<std::uint64_t>(std::ranges::count(bytes, wanted));
}

double microseconds(double nanoseconds) { return nanoseconds / 1000.0; }

}  // namespace

double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  if (ranks == 1) return 0;
  switch (collective) {
    case Collective::allreduce:      return 2 * (n - 1) / n;
    case Collective::reduce_scatter: return (n - 1) / n;
    case Collective::allgather:      return (n - 1) / n;
    case Collective::gather:         return (n - 1) / n;
    case Collective::scatter:        return (n - 1) / n;
    case Collective::alltoall:       return (n - 1) / n;
    case Collective::broadcast:      return 1;
    case Collective::reduce:         return 1;
    case Collective::barrier:        return 0;
  }
  unreachable();
}

PerfCase make_case(Collective collective, const TypeName& type, const OpName& op, int root, int ranks, std::size_t bytes) {
  PerfCase made{.collective = collective, .type = type, .op = op, .root = has_root(collective) ? root : -1};
  if (collective == Collective::barrier) return made;
  const std::size_t all = std::max(parts(collective, Side::input, ranks), parts(collective, Side::output, ranks));
  made.count = std::max<std::size_t>(1, bytes / type.bytes / all);
  made.bytes = made.count * type.bytes * all;
  return made;
}

Result<PerfBench> PerfBench::make(hcommComm_t comm, const PerfOptions& options, std::size_t largest) {
  PerfBench bench;
  bench.comm_ = comm;
  bench.options_ = &options;
  if (const hcommResult_t result = hcommCommUserRank(comm, &bench.rank_); result != hcommSuccess)
    return bench.failed(result, "asking for the rank");
  if (const hcommResult_t result = hcommCommCount(comm, &bench.ranks_); result != hcommSuccess)
    return bench.failed(result, "asking for the size");
  bench.largest_ = round_up(std::max<std::size_t>(largest, 1), kPageBytes);
  if (Status status = bench.allocate(bench.largest_); !status.ok()) return status;
  return bench;
}

PerfBench::PerfBench(PerfBench&& other) noexcept
    : comm_(other.comm_), options_(other.options_), rank_(other.rank_), ranks_(other.ranks_), largest_(other.largest_),
      memory_bytes_(other.memory_bytes_), inputs_(std::exchange(other.inputs_, nullptr)),
      output_(std::exchange(other.output_, nullptr)), salt_(other.salt_) {}

PerfBench::~PerfBench() {
  const auto give_back = [&](std::byte* memory, std::size_t bytes) {
    if (memory == nullptr) return;
    if (options_->private_memory) {
      munmap(memory, bytes);
    } else {
      hcommMemFree(memory);
    }
  };
  give_back(inputs_, memory_bytes_);
  give_back(output_, largest_);
}

Status PerfBench::failed(hcommResult_t result, std::string_view what) const {
  const char* const detail = hcommGetLastError(nullptr);
  return Status::failure(result, std::string(what) + ": " + (*detail == '\0' ? hcommGetErrorString(result) : detail));
}

Status PerfBench::allocate(std::size_t bytes) {
  memory_bytes_ = 2 * bytes;
  for (const auto& [memory, size] : {std::pair{&inputs_, memory_bytes_}, std::pair{&output_, bytes}}) {
    if (options_->private_memory) {
      void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapped == MAP_FAILED)
        return Status::failure(hcommOutOfMemory, "no room for buffers of " + std::to_string(size) + " bytes; lower -e");
      *memory = static_cast<std::byte*>(mapped);
      continue;
    }
    void* shared = nullptr;
    const hcommResult_t result = hcommMemAlloc(&shared, size);
    if (result != hcommSuccess) return failed(result, "allocating buffers of " + std::to_string(size) + " bytes (lower -e)");
    *memory = static_cast<std::byte*>(shared);
  }
  return {};
}

PerfBench::Buffers PerfBench::buffers(const PerfCase& what, bool in_place, std::size_t turn) const {
  const std::size_t stride = round_up(std::max<std::size_t>(what.bytes, 1), kPageBytes);
  const std::size_t turns = std::clamp<std::size_t>(memory_bytes_ / stride, 1, kMaxTurns);
  const Bytes whole(inputs_ + turn % turns * stride, what.bytes);
  const std::size_t part = what.count * what.type.bytes;
  const std::size_t sent = part * parts(what.collective, Side::input, ranks_);
  const std::size_t received = part * parts(what.collective, Side::output, ranks_);
  if (!in_place) return {whole.first(sent), {output_, received}};
  const std::size_t own = static_cast<std::size_t>(rank_) * part;  // where the smaller one lies in the larger
  return {whole.subspan(sent < received ? own : 0, sent), whole.subspan(received < sent ? own : 0, received)};
}

Status PerfBench::call(const PerfCase& what, const Buffers& at) const {
  hcommResult_t result = hcommInternalError;
  switch (what.collective) {
    case Collective::allreduce:
      result = hcommAllReduce(at.send.data(), at.recv.data(), what.count, what.type.dtype, what.op.op, comm_, nullptr);
      break;
    case Collective::broadcast:
      result = hcommBroadcast(at.send.data(), at.recv.data(), what.count, what.type.dtype, what.root, comm_, nullptr);
      break;
    case Collective::reduce:
      result =
          hcommReduce(at.send.data(), at.recv.data(), what.count, what.type.dtype, what.op.op, what.root, comm_, nullptr);
      break;
    case Collective::reduce_scatter:
      result = hcommReduceScatter(at.send.data(), at.recv.data(), what.count, what.type.dtype, what.op.op, comm_, nullptr);
      break;
    case Collective::allgather:
      result = hcommAllGather(at.send.data(), at.recv.data(), what.count, what.type.dtype, comm_, nullptr);
      break;
    case Collective::gather:
      result = hcommGather(at.send.data(), at.recv.data(), what.count, what.type.dtype, what.root, comm_, nullptr);
      break;
    case Collective::scatter:
      result = hcommScatter(at.send.data(), at.recv.data(), what.count, what.type.dtype, what.root, comm_, nullptr);
      break;
    case Collective::alltoall:
      result = hcommAllToAll(at.send.data(), at.recv.data(), what.count, what.type.dtype, comm_, nullptr);
      break;
    case Collective::barrier:
      result = hcommBarrier(comm_, nullptr);
      break;
  }
  return result == hcommSuccess ? Status() : failed(result, name(what.collective));
}

Status PerfBench::barrier() const {
  const hcommResult_t result = hcommBarrier(comm_, nullptr);
  return result == hcommSuccess ? Status() : failed(result, "the barrier before the timing");
}

// Fresh contributions in, poison where the result will be.
void PerfBench::prepare(const PerfCase& what, const Pattern& pattern, const Buffers& at, bool in_place) const {
  if (what.bytes == 0) return;
  std::memset(at.recv.data(), kPoison, at.recv.size());
  if (!in_place) std::memset(at.send.data(), kPoison, at.send.size());
  if (!has_input(what.collective, rank_ == what.root)) return;
  pattern.fill(at.send, rank_, 0, salt_);
}

// Of a rank that has no result: the poison must still be there, and in place what it sent.
std::uint64_t PerfBench::count_touched(const Pattern& pattern, const Buffers& at, bool in_place) const {
  if (!in_place) return count_others(at.recv, std::byte{kPoison});
  const auto before = static_cast<std::size_t>(at.send.data() - at.recv.data());
  return pattern.count_wrong(at.send, rank_, 0, salt_) + count_others(at.recv.first(before), std::byte{kPoison}) +
         count_others(at.recv.subspan(before + at.send.size()), std::byte{kPoison});
}

std::uint64_t PerfBench::count_wrong_result(const PerfCase& what, const Pattern& pattern, Bytes result) const {
  const std::size_t own = static_cast<std::size_t>(rank_) * what.count;  // the first element of the rank's part
  const auto from_all = [&](std::size_t first) {
    const std::size_t part = what.count * what.type.bytes;
    std::uint64_t wrong = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      wrong += pattern.count_wrong(result.subspan(static_cast<std::size_t>(rank) * part, part), rank, first, salt_);
    }
    return wrong;
  };
  switch (what.collective) {
    case Collective::allreduce:
    case Collective::reduce:         return pattern.count_wrong_reduction(result, 0, salt_);
    case Collective::reduce_scatter: return pattern.count_wrong_reduction(result, own, salt_);
    case Collective::broadcast:      return pattern.count_wrong(result, what.root, 0, salt_);
    case Collective::scatter:        return pattern.count_wrong(result, what.root, own, salt_);
    case Collective::allgather:
    case Collective::gather:         return from_all(0);
    case Collective::alltoall:       return from_all(own);
    case Collective::barrier:        return 0;
  }
  unreachable();
}

std::uint64_t PerfBench::count_wrong(const PerfCase& what, const Pattern& pattern, const Buffers& at, bool in_place) const {
  if (what.collective == Collective::barrier) return 0;
  const bool is_root = rank_ == what.root;
  if (!has_output(what.collective, is_root)) {
    const std::uint64_t changed = in_place ? 0 : pattern.count_wrong(at.send, rank_, 0, salt_);
    return changed + count_touched(pattern, at, in_place);
  }
  std::uint64_t wrong = count_wrong_result(what, pattern, at.recv);
  const bool read_mine = has_input(what.collective, is_root);
  if (!in_place && read_mine) wrong += pattern.count_wrong(at.send, rank_, 0, salt_);  // a changed input is as wrong
  return wrong;
}

Result<std::uint64_t> PerfBench::checked_call(const PerfCase& what, const Pattern& pattern, bool in_place) {
  ++salt_;
  const Buffers at = buffers(what, in_place, salt_);
  prepare(what, pattern, at, in_place);
  if (Status status = call(what, at); !status.ok()) return status;
  return count_wrong(what, pattern, at, in_place);
}

Result<TimeNs> PerfBench::timed_calls(const PerfCase& what, bool in_place, int calls) const {
  if (Status status = barrier(); !status.ok()) return status;
  const TimeNs start = clock_.now();
  for (int turn = 0; turn < calls; ++turn) {
    if (Status status = call(what, buffers(what, in_place, static_cast<std::size_t>(turn))); !status.ok()) return status;
  }
  return clock_.now() - start;
}

Status PerfBench::agree_on_slowest(std::vector<std::int64_t>& numbers) const {
  const hcommResult_t result =
      hcommAllReduce(numbers.data(), numbers.data(), numbers.size(), hcommInt64, hcommMax, comm_, nullptr);
  return result == hcommSuccess ? Status() : failed(result, "exchanging the times");
}

Result<int> PerfBench::choose_iterations(const PerfCase& what, bool in_place) const {
  const int calls = std::max(options_->warmup, 1);
  const Result<TimeNs> took = timed_calls(what, in_place, calls);
  if (!took.ok()) return Status::failure(took.status().code(), took.status().trail());
  if (options_->iterations > 0) return options_->iterations;
  std::vector<std::int64_t> mean = {std::max<TimeNs>(took.value() / calls, 1)};
  if (Status status = agree_on_slowest(mean); !status.ok()) return status;
  return static_cast<int>(std::clamp<TimeNs>(options_->aimed_time_ns / mean[0], 1, kMaxIterations));
}

// The total of each repetition, of the slowest rank.
Result<PerfBench::Times> PerfBench::repeat(const PerfCase& what, bool in_place, int iterations) const {
  Times totals;
  for (int repetition = 0; repetition < options_->repetitions; ++repetition) {
    Result<TimeNs> took = timed_calls(what, in_place, iterations);
    if (!took.ok()) return std::move(took).status();
    totals.push_back(took.value());
  }
  if (Status status = agree_on_slowest(totals); !status.ok()) return status;
  std::sort(totals.begin(), totals.end());
  return totals;
}

// Single calls, each of the rank that was slowest in it.
Result<PerfBench::Times> PerfBench::sample(const PerfCase& what, bool in_place, int calls) const {
  Times singles;
  if (Status status = barrier(); !status.ok()) return status;
  for (int turn = 0; turn < calls; ++turn) {
    const TimeNs start = clock_.now();
    if (Status status = call(what, buffers(what, in_place, static_cast<std::size_t>(turn))); !status.ok()) return status;
    singles.push_back(clock_.now() - start);
  }
  if (Status status = agree_on_slowest(singles); !status.ok()) return status;
  std::sort(singles.begin(), singles.end());
  return singles;
}

Status PerfBench::time(const PerfCase& what, PerfResult& result) const {
  Result<int> iterations = choose_iterations(what, result.in_place);
  if (!iterations.ok()) return std::move(iterations).status();
  result.iterations = iterations.value();
  Result<Times> repeated = repeat(what, result.in_place, result.iterations);
  if (!repeated.ok()) return std::move(repeated).status();
  Result<Times> sampled = sample(what, result.in_place, std::clamp(result.iterations, kMinSamples, kMaxSamples));
  if (!sampled.ok()) return std::move(sampled).status();
  const Times& totals = repeated.value();
  const Times& singles = sampled.value();
  const double median = static_cast<double>(totals[(totals.size() - 1) / 2] + totals[totals.size() / 2]) / 2;
  result.time_us = microseconds(median / result.iterations);
  result.min_us = microseconds(static_cast<double>(singles.front()));
  result.max_us = microseconds(static_cast<double>(singles.back()));
  result.p99_us = microseconds(static_cast<double>(singles[(singles.size() * 99 + 99) / 100 - 1]));
  result.algbw_gbs = result.time_us > 0 ? static_cast<double>(what.bytes) / result.time_us / 1000.0 : 0;
  result.busbw_gbs = result.algbw_gbs * bus_factor(what.collective, ranks_);
  return {};
}

Result<PerfResult> PerfBench::measure(const PerfCase& what, const Pattern& pattern, bool in_place) {
  PerfResult result{.in_place = in_place};
  std::uint64_t wrong = 0;
  const auto check = [&]() -> Status {
    Result<std::uint64_t> counted = checked_call(what, pattern, in_place);
    if (!counted.ok()) return std::move(counted).status();
    wrong += counted.value();
    return {};
  };
  for (int turn = 0; turn < kCheckedCalls; ++turn) {
    if (Status status = check(); !status.ok()) return status;
  }
  if (const Communicator* communicator = find_communicator(comm_); communicator != nullptr) {
    result.algorithm = communicator->last_call().algorithm;
    result.transport = communicator->last_call().transport;
  }
  for (std::size_t turn = 0; turn < kMaxTurns; ++turn) prepare(what, pattern, buffers(what, in_place, turn), in_place);
  if (Status status = time(what, result); !status.ok()) return status;
  if (Status status = check(); !status.ok()) return status;
  auto all_wrong = static_cast<std::int64_t>(wrong);
  const hcommResult_t summed = hcommAllReduce(&all_wrong, &all_wrong, 1, hcommInt64, hcommSum, comm_, nullptr);
  if (summed != hcommSuccess) return failed(summed, "counting wrong elements");
  result.wrong = std::max(static_cast<std::uint64_t>(all_wrong), wrong);
  return result;
}

}  // namespace hcomm
