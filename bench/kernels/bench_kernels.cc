// What a combine costs beside a memcpy that moves the same number of bytes. The two are timed in turns, so that what
// disturbs the machine disturbs both, and the median of the ratios is shown: 1.0 is as fast as memcpy.
//
//   bench_kernels [--set NAME] [--dtype NAME] [--op NAME] [--seconds S]
//
// GB/s counts what is read and what is written, in 10^9 bytes.
#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/combine.h"

namespace hcomm {
namespace {

struct Options {
  std::string set;
  std::string dtype;  // empty: a few
  std::string op = "sum";
  double seconds = 0.05;  // for each line
};

// One line of the table.
struct Case {
  hcommDataType_t dtype;
  hcommRedOp_t op;
  std::size_t sources;
  std::size_t targets;
  std::size_t bytes;  // of one operand
  Store store;
};

struct Timing {
  double kernel_seconds;
  double ratio;  // to memcpy of the same traffic
};

constexpr std::size_t kLineBytes = 64;

class Arena {  // aligned memory, touched; 0x3C in each byte is an everyday number in every type
 public:
  explicit Arena(std::size_t bytes) : memory_(bytes + kLineBytes, std::byte{0x3C}) {}
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kLineBytes - address % kLineBytes) % kLineBytes;
  }

 private:
  std::vector<std::byte> memory_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Work>
double time_of(std::size_t repetitions, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < repetitions; ++i) work();
  return seconds_since(start) / static_cast<double>(repetitions);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::size_t traffic(const Case& line) { return (line.sources + line.targets) * line.bytes; }

Timing measure(const Case& line, CombineKernel kernel, double budget_seconds) {
  const std::size_t stride = line.bytes + 4 * kLineBytes;  // no two operands at the same offset of a page
  Arena operands(stride * (line.sources + line.targets));
  Arena from(traffic(line) / 2 + kLineBytes), to(traffic(line) / 2 + kLineBytes);
  std::vector<CombineSource> sources;
  std::vector<CombineTarget> targets;
  for (std::size_t i = 0; i < line.sources; ++i) sources.push_back({.data = operands.data() + i * stride});
  for (std::size_t i = 0; i < line.targets; ++i) targets.push_back({.data = operands.data() + (line.sources + i) * stride});
  const std::size_t elements = line.bytes / element_bytes(line.dtype);
  const auto combine = [&] { kernel(sources, targets, elements, line.store); };
  const auto copy = [&] {
    std::memcpy(to.data(), from.data(), traffic(line) / 2);
    asm volatile("" ::: "memory");
  };
  const std::size_t repetitions = std::max<std::size_t>(1, static_cast<std::size_t>(1e-4 / (time_of(1, combine) + 1e-9)));
  std::vector<double> kernel_times, ratios;
  const auto start = std::chrono::steady_clock::now();
  while (ratios.size() < 5 || (seconds_since(start) < budget_seconds && ratios.size() < 1000)) {
    const double copy_time = time_of(repetitions, copy);
    kernel_times.push_back(time_of(repetitions, combine));
    ratios.push_back(kernel_times.back() / copy_time);
  }
  return {.kernel_seconds = median(kernel_times), .ratio = median(ratios)};
}

const char* text(Store store) {
  switch (store) {
    case Store::regular:      return "regular";
    case Store::non_temporal: return "non_temporal";
    case Store::rep_movsb:    return "rep_movsb";
  }
  return "?";
}

void print(const Case& line, std::string_view set, const Timing& timing) {
  fmt::print("{:<22} {:>7} {:>7} {:>12} {:>10} {:>11.3f} {:>8.2f} {:>8.2f}\n",
             fmt::format("{}/{}/{}", set, name(line.dtype), name(line.op)), line.sources, line.targets, text(line.store),
             line.bytes, timing.kernel_seconds * 1e6, static_cast<double>(traffic(line)) / timing.kernel_seconds / 1e9,
             timing.ratio);
}

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string flag = words[i];
    if (i + 1 == count) return false;
    if (flag == "--set") options.set = words[i + 1];
    else if (flag == "--dtype") options.dtype = words[i + 1];
    else if (flag == "--op") options.op = words[i + 1];
    else if (flag == "--seconds") options.seconds = std::atof(words[i + 1]);
    else return false;
  }
  return true;
}

std::vector<Case> cases(hcommDataType_t dtype, hcommRedOp_t op) {
  std::vector<Case> lines;
  const auto add = [&](std::size_t sources, std::size_t targets, std::size_t bytes, Store store) {
    lines.push_back({.dtype = dtype, .op = op, .sources = sources, .targets = targets, .bytes = bytes, .store = store});
  };
  for (const std::size_t sources : {2, 4, 8, 16, 64}) {
    for (const std::size_t bytes : {64, 4096, 65536, 1 << 20}) add(sources, 1, bytes, Store::regular);
  }
  for (const Store store : {Store::regular, Store::non_temporal, Store::rep_movsb}) {
    for (const std::size_t targets : {1, 2}) add(2, targets, 4 << 20, store);
  }
  return lines;
}

int run(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    fmt::print(stderr, "usage: bench_kernels [--set NAME] [--dtype NAME] [--op NAME] [--seconds S]\n");
    return 2;
  }
  const std::string set = options.set.empty() ? std::string(kernel_sets().back()) : options.set;
  fmt::print("{:<22} {:>7} {:>7} {:>12} {:>10} {:>11} {:>8} {:>8}\n", "kernel", "sources", "targets", "store", "bytes", "us",
             "GB/s", "x memcpy");
  std::size_t printed = 0;
  for (const hcommDataType_t dtype : combine_types()) {
    if (!options.dtype.empty() && name(dtype) != options.dtype) continue;
    for (const hcommRedOp_t op : combine_ops(dtype)) {
      if (name(op) != options.op) continue;
      const Result<CombineKernel> kernel = find_combine(dtype, op, set);
      if (!kernel.ok()) {
        fmt::print(stderr, "{}\n", kernel.status().trail());
        return 2;
      }
      for (const Case& line : cases(dtype, op)) print(line, set, measure(line, kernel.value(), options.seconds));
      ++printed;
    }
  }
  if (printed == 0) fmt::print(stderr, "no such type or operation is combined\n");
  return printed == 0 ? 2 : 0;
}

}  // namespace
}  // namespace hcomm

int main(int count, char** words) { return hcomm::run(count, words); }
