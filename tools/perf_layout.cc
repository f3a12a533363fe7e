#include "perf_layout.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <limits>

namespace hcomm {
namespace {

// Whose larger buffer has a part for each rank, while the benchmarks of OSU count one part.
bool counts_parts(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::gather:
    case Collective::scatter:
    case Collective::alltoall:       return true;
    case Collective::allreduce:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::barrier:        return false;
  }
  unreachable();
}

std::string columns_of(PerfMode mode) {
  switch (mode) {
    case PerfMode::latency:
      return fmt::format("{:>18}{:>18}{:>18}{:>18}", "Avg Latency(us)", "Min Latency(us)", "P99 Latency(us)", "Max Latency(us)");
    case PerfMode::bandwidth: return fmt::format("{:>18}{:>18}{:>18}", "Alg Bw(GB/s)", "Bus Bw(GB/s)", "Avg Time(us)");
    case PerfMode::osu:       return fmt::format("{:>18}", "Avg Latency(us)");
    case PerfMode::table:     return "";
  }
  unreachable();
}

}  // namespace

std::size_t shown_bytes(PerfMode mode, const PerfCase& what) {
  return mode == PerfMode::osu && counts_parts(what.collective) ? what.count * what.type.bytes : what.bytes;
}

std::size_t case_bytes(PerfMode mode, Collective collective, int ranks, std::size_t size) {
  if (mode != PerfMode::osu || !counts_parts(collective)) return size;
  std::size_t bytes = 0;
  return __builtin_mul_overflow(size, static_cast<std::size_t>(ranks), &bytes) ? std::numeric_limits<std::size_t>::max() : bytes;
}

std::string layout_heading(const PerfOptions& options, const PerfCase& first, int ranks, const std::string& version) {
  const bool typed = first.collective != Collective::barrier;
  std::string text = fmt::format("\n# hcomm {} {} Test v{}, {} ranks\n", name(first.collective),
                                 options.mode == PerfMode::bandwidth ? "Bandwidth" : "Latency", version, ranks);
  if (typed) text += fmt::format("# Datatype: {}", first.type.name);
  if (reduces(first.collective)) text += fmt::format(", {}", first.op.name);
  if (typed) text += "\n";
  return text + (typed ? fmt::format("{:<10}", "# Size") : "#") + columns_of(options.mode) + "\n";
}

std::string layout_row(PerfMode mode, const PerfCase& what, const PerfResult& result) {
  const std::string size = what.collective == Collective::barrier ? " " : fmt::format("{:<10}", shown_bytes(mode, what));
  switch (mode) {
    case PerfMode::latency:
      return fmt::format("{}{:>18.2f}{:>18.2f}{:>18.2f}{:>18.2f}\n", size, result.time_us, result.min_us, result.p99_us,
                         result.max_us);
    case PerfMode::bandwidth:
      return fmt::format("{}{:>18.2f}{:>18.2f}{:>18.2f}\n", size, result.algbw_gbs, result.busbw_gbs, result.time_us);
    case PerfMode::osu:   return fmt::format("{}{:>18.2f}\n", size, result.time_us);
    case PerfMode::table: return "";
  }
  unreachable();
}

}  // namespace hcomm
