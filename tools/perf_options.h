// What `hcomm perf` is asked to measure: the words of the command line, and what they mean.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hcomm/types.h"
#include "schedule/problem.h"

namespace hcomm {

struct PerfWords {
  std::string collective;
  std::optional<long> ranks;
  std::string begin;
  std::string end;
  std::string factor;
  std::string step;
  std::string dtype = "float32";
  std::string op = "sum";
  long root = 0;
  long iterations = 0;  // 0: as many as fill about 20 ms
  long warmup = 5;
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
  std::vector<Collective> collectives;
  std::vector<TypeName> types;
  std::vector<OpName> ops;
  std::vector<std::size_t> sizes;  // bytes, ascending
  int ranks = 0;
  int root = 0;
  int iterations = 0;
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
