#include "perf_options.h"

#include <algorithm>

#include "base/parse.h"
#include "command_line.h"
#include "job.h"
#include "kernels/combine.h"
#include "plan/choose.h"

namespace hcomm {
namespace {

// As nccl-tests calls them, where it says something else.
std::string_view alias_of(hcommDataType_t dtype) {
  if (dtype == hcommInt32) return "int";
  if (dtype == hcommFloat16) return "half";
  if (dtype == hcommFloat32) return "float";
  if (dtype == hcommFloat64) return "double";
  if (dtype == hcommFloat8e4m3) return "f8e4m3";
  return dtype == hcommFloat8e5m2 ? "f8e5m2" : name(dtype);
}

std::vector<TypeName> all_types() {
  std::vector<TypeName> types;
  for (const hcommDataType_t dtype : combine_types()) {
    types.push_back({name(dtype), alias_of(dtype), dtype, element_bytes(dtype)});
  }
  return types;
}

std::vector<OpName> all_ops() {
  std::vector<OpName> ops;
  for (const hcommRedOp_t op : combine_ops()) ops.push_back({name(op), op});
  return ops;
}

// What is measured if the words do not say.
struct Defaults {
  std::size_t begin;
  std::size_t end;
  int warmup;
  TimeNs aimed_time_ns;  // of one repetition
};

Defaults defaults_of(PerfMode mode) {
  constexpr std::size_t kKiB = 1024;
  constexpr std::size_t kMiB = 1024 * kKiB;
  switch (mode) {
    case PerfMode::table:     return {8, 64 * kMiB, 5, 20 * kMillisecond};
    case PerfMode::latency:   return {8, 8 * kKiB, 100, 100 * kMillisecond};
    case PerfMode::bandwidth: return {kMiB, 64 * kMiB, 5, 20 * kMillisecond};
    case PerfMode::osu:       return {4, kMiB, 100, 20 * kMillisecond};
  }
  unreachable();
}

constexpr int kDefaultRanks = 4;
constexpr std::size_t kMaxRows = 10'000;
constexpr long kMaxCount = 1'000'000;

std::vector<Collective> collectives_of(const std::string& word) {
  if (word == "all") return {kCollectives.begin(), kCollectives.end()};
  std::vector<std::string_view> names;
  for (const Collective collective : kCollectives) {
    if (name(collective) == word) return {collective};
    names.push_back(name(collective));
  }
  names.push_back("all");
  throw UsageError(unknown_name("collective", word, names));
}

template <class Entry>
std::vector<Entry> entries_of(std::string_view kind, const std::string& word, const std::vector<Entry>& table) {
  if (word == "all") return table;
  std::vector<std::string_view> names;
  for (const Entry& entry : table) {
    bool same = entry.name == word;
    if constexpr (requires { entry.alias; }) same = same || entry.alias == word;
    if (same) return {entry};
    names.push_back(entry.name);
  }
  names.push_back("all");
  throw UsageError(unknown_name(kind, word, names));
}

std::size_t size_of(std::string_view option, const std::string& word, std::size_t otherwise) {
  if (word.empty()) return otherwise;
  const Result<std::size_t> size = parse_size(word);
  if (!size.ok()) throw UsageError(std::string(option) + " is '" + word + "': " + headline(size.status()));
  return size.value();
}

std::vector<std::size_t> sizes_of(const PerfWords& words, const Defaults& defaults) {
  const std::size_t begin = size_of("-b", words.begin, defaults.begin);
  const std::size_t end = size_of("-e", words.end, std::max(begin, words.begin.empty() ? defaults.end : begin));
  if (begin < 1) throw UsageError("-b is 0; the smallest size is 1 byte");
  if (end < begin) {
    throw UsageError("-e " + words.end + " is less than -b " + (words.begin.empty() ? std::to_string(begin) : words.begin) +
                     "; sizes run from -b up to -e");
  }
  if (!words.factor.empty() && !words.step.empty())
    throw UsageError("-f and -i exclude each other: sizes grow by a factor or by a step");
  const std::size_t step = size_of("-i", words.step, 0);
  const std::size_t factor = words.factor.empty() ? 2 : size_of("-f", words.factor, 2);
  if (!words.step.empty() && step < 1) throw UsageError("-i is 0; the smallest step is 1 byte");
  if (factor < 2) throw UsageError("-f is " + words.factor + "; the smallest factor is 2");
  std::vector<std::size_t> sizes;
  for (std::size_t size = begin; size <= end;) {
    if (sizes.size() == kMaxRows)
      throw UsageError("more than " + std::to_string(kMaxRows) + " sizes from -b to -e; take a larger -f or -i");
    sizes.push_back(size);
    const bool overflows = step > 0 ? __builtin_add_overflow(size, step, &size) : __builtin_mul_overflow(size, factor, &size);
    if (overflows) break;
  }
  return sizes;
}

int number_of(std::string_view option, long value, long least, long most) {
  if (value >= least && value <= most) return static_cast<int>(value);
  throw UsageError(std::string(option) + " is " + std::to_string(value) + "; legal are " + std::to_string(least) + " to " +
                   std::to_string(most));
}

int ranks_of(const PerfWords& words, int launched_ranks) {
  const int asked = words.ranks.has_value() ? number_of("-n", *words.ranks, 1, kMaxJobRanks) : 0;
  if (launched_ranks == 0) return asked == 0 ? kDefaultRanks : asked;
  if (asked != 0 && asked != launched_ranks) {
    throw UsageError("-n is " + std::to_string(asked) + ", but the launcher started " + std::to_string(launched_ranks) +
                     " ranks; leave -n out");
  }
  return launched_ranks;
}

void check_algorithm(const std::string& word, const std::vector<Collective>& collectives) {
  if (word.empty()) return;
  for (const Collective collective : collectives) {
    const Result<std::string_view> known = requested_algorithm(word, collective);
    if (!known.ok()) throw UsageError("--algo: " + headline(known.status()));
  }
}

// Of `all` those are taken that go together.
void check_pair(const PerfOptions& options) {
  if (options.types.size() > 1 || options.ops.size() > 1) return;
  if (std::ranges::none_of(options.collectives, [](Collective each) { return reduces(each); })) return;
  const TypeName& type = options.types.front();
  if (has_op(type.dtype, options.ops.front().op)) return;
  std::string legal;
  for (const hcommRedOp_t op : combine_ops(type.dtype)) legal += (legal.empty() ? "" : ", ") + std::string(name(op));
  throw UsageError("-o " + std::string(options.ops.front().name) + " is not defined for " + std::string(type.name) +
                   "; legal for it are " + legal);
}

PerfMode mode_of(const PerfWords& words) {
  std::vector<std::string_view> names;
  for (const PerfMode mode : kPerfModes) {
    if (name(mode) == words.mode) return mode;
    names.push_back(name(mode));
  }
  throw UsageError("--mode: " + unknown_name("mode", words.mode, names));
}

// What the columns of a mode have no room for.
void check_mode(PerfOptions& options) {
  if (options.mode == PerfMode::table) return;
  const std::string mode = "--mode " + std::string(name(options.mode));
  if (options.csv) throw UsageError("--csv and " + mode + " exclude each other: each is a layout of the rows");
  if (options.types.size() > 1 || options.ops.size() > 1)
    throw UsageError(mode + " shows one type and one operation; name one with -t and one with -o");
  if (options.mode != PerfMode::bandwidth) return;
  std::erase(options.collectives, Collective::barrier);
  if (options.collectives.empty()) throw UsageError(mode + ": a barrier moves no bytes; take --mode latency or osu");
}

}  // namespace

PerfOptions understand(const PerfWords& words, int launched_ranks) {
  PerfOptions options;
  options.mode = mode_of(words);
  const Defaults defaults = defaults_of(options.mode);
  options.collectives = collectives_of(words.collective);
  options.types = entries_of("type", words.dtype, all_types());
  options.ops = entries_of("operation", words.op, all_ops());
  check_pair(options);
  options.sizes = sizes_of(words, defaults);
  options.ranks = ranks_of(words, launched_ranks);
  options.root = number_of("-r", words.root, 0, options.ranks - 1);
  options.iterations = number_of("--iters", words.iterations, 0, kMaxCount);
  options.warmup = number_of("--warmup", words.warmup.value_or(defaults.warmup), 0, kMaxCount);
  options.aimed_time_ns = defaults.aimed_time_ns;
  options.repetitions = number_of("--repetitions", words.repetitions, 1, kMaxCount);
  check_algorithm(words.algorithm, options.collectives);
  options.algorithm = words.algorithm;
  if (words.memory != "shared" && words.memory != "private")
    throw UsageError("--memory: " + unknown_name("memory", words.memory, {"shared", "private"}));
  options.private_memory = words.memory == "private";
  options.json_path = words.json_path;
  options.csv = words.csv;
  check_mode(options);
  return options;
}

}  // namespace hcomm
