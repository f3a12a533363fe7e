// What `hcomm perf` is asked to measure: the words of the command line, and what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "hcomm/types.h"
#include "schedule/problem.h"

namespace hcomm {

// What a run is for: which sizes and how many calls, if the words do not say, and the columns of a row.
enum class PerfMode : std::uint8_t { table, latency, bandwidth, osu };
inline constexpr PerfMode kPerfModes[] = {PerfMode::table, PerfMode::latency, PerfMode::bandwidth, PerfMode::osu};

constexpr std::string_view name(PerfMode mode) {
  switch (mode) {
    case PerfMode::table:     return "table";
    case PerfMode::latency:   return "latency";
    case PerfMode::bandwidth: return "bandwidth";
    case PerfMode::osu:       return "osu";
  }
  unreachable();
}

struct PerfWords {
  std::string collective;
  std::string mode = "table";
  std::optional<long> ranks;
  std::string begin;
  std::string end;
  std::string factor;
  std::string step;
  std::string dtype = "float32";
  std::string op = "sum";
  long root = 0;
  long iterations = 0;  // 0: as many as fill the time of the mode
  std::optional<long> warmup;
  long repetitions = 5;
  std::string algorithm;
  std::string memory = "shared";
  std::string json_path;
  bool csv = false;
};

struct TypeName {
  std::string_view name;
  std::string_view alias;  // of nccl-tests
  hcommDataType_t dtype;
  std::size_t bytes;
};

struct OpName {
  std::string_view name;
  hcommRedOp_t op;
};

struct PerfOptions {
  PerfMode mode = PerfMode::table;
  std::vector<Collective> collectives;
  std::vector<TypeName> types;
  std::vector<OpName> ops;
  std::vector<std::size_t> sizes;  // bytes, ascending
  int ranks = 0;
  int root = 0;
  int iterations = 0;
  TimeNs aimed_time_ns = 0;  // of one repetition, when the iterations are ours to choose
  int warmup = 0;
  int repetitions = 0;
  std::string algorithm;  // empty: as HCOMM_ALGO says
  bool private_memory = false;
  std::string json_path;
  bool csv = false;
};

// `launched_ranks`: of the launcher that started this process; 0: none did. Throws UsageError that names what, where, and what is
// legal or nearest.
PerfOptions understand(const PerfWords& words, int launched_ranks);

}  // namespace hcomm
