#include "perf_cost.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "api/handles.h"

namespace hcomm {
namespace {

constexpr int kFurther = 4;  // so many, because what malloc keeps aside for its next caller would blur a single one

std::int64_t entries(const char* folder) {
  std::error_code ignored;
  return std::distance(std::filesystem::directory_iterator(folder, ignored), std::filesystem::directory_iterator());
}

// "Pss:        12 kB" of a file in /proc.
std::int64_t kibibytes(const std::string& line) { return std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10); }

std::int64_t shared_bytes() {
  std::ifstream file("/proc/self/smaps");
  bool is_memory_file = false;
  std::int64_t sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find('-') < line.find(' ')) is_memory_file = line.find("/memfd:hcomm") != std::string::npos;  // a new mapping
    if (is_memory_file && line.starts_with("Pss:")) sum += kibibytes(line) * 1024;
  }
  return sum;
}

std::int64_t page_table_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmPTE:")) return kibibytes(line) * 1024;
  }
  return 0;
}

Status check(hcommResult_t result, std::string_view doing) {
  if (result == hcommSuccess) return {};
  return Status::failure(result, std::string(doing) + ": " + hcommGetLastError(nullptr));
}

// One row of numbers from each rank, at each.
template <std::size_t numbers>
Result<std::vector<std::array<std::int64_t, numbers>>> gather(hcommComm_t comm, const std::array<std::int64_t, numbers>& own) {
  int ranks = 0;
  if (Status status = check(hcommCommCount(comm, &ranks), "asking for the size"); !status.ok()) return status;
  std::vector<std::array<std::int64_t, numbers>> all(static_cast<std::size_t>(ranks));
  const hcommResult_t result = hcommAllGather(own.data(), all.data(), numbers, hcommInt64, comm, nullptr);
  if (Status status = check(result, "gathering what communicators cost"); !status.ok()) return status;
  return all;
}

Status find_slowest(hcommComm_t comm, PerfCosts& costs) {
  const InitTimes own = find_communicator(comm)->init_times();
  const auto all = gather<7>(comm, {own.whole_ns, own.prepare_ns, own.gather_ns, own.table_ns, own.segment_ns, own.transport_ns,
                                    own.agree_ns});
  if (!all.ok()) return Status::failure(all.status().code(), all.status().trail());
  const auto found = std::ranges::max_element(all.value(), {}, [](const auto& times) { return times[0]; });
  const auto& [whole, prepare, gathering, table, segment, transport, agree] = *found;
  costs.slowest = static_cast<int>(found - all.value().begin());
  costs.init = {whole, prepare, gathering, table, segment, transport, agree};
  return {};
}

Status make_further(hcommComm_t comm, std::array<hcommComm_t, kFurther>& further) {
  for (hcommComm_t& each : further) {
    if (Status status = check(hcommCommInitEnv(&each), "making a further communicator"); !status.ok()) return status;
  }
  return check(hcommBarrier(comm, nullptr), "waiting for all to have made further communicators");
}

}  // namespace

Holdings holdings() {
  const struct mallinfo2 heap = mallinfo2();
  Holdings found{.heap_bytes = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd)};
  found.shared_bytes = shared_bytes();
  found.page_table_bytes = page_table_bytes();
  found.descriptors = entries("/proc/self/fd");
  found.threads = entries("/proc/self/task");
  return found;
}

Result<PerfCosts> measure_costs(hcommComm_t comm) {
  PerfCosts costs;
  if (Status status = find_slowest(comm, costs); !status.ok()) return status;
  if (Status status = check(hcommBarrier(comm, nullptr), "waiting for all"); !status.ok()) return status;
  const Holdings before = holdings();
  std::array<hcommComm_t, kFurther> further{};
  Status made = make_further(comm, further);
  const Holdings after = holdings();
  if (!made.ok()) return made;
  const auto all = gather<5>(comm, {(after.heap_bytes - before.heap_bytes) / kFurther,
                                    (after.shared_bytes - before.shared_bytes) / kFurther,
                                    (after.page_table_bytes - before.page_table_bytes) / kFurther,
                                    after.descriptors - before.descriptors, after.threads - before.threads});
  for (const hcommComm_t each : further) hcommCommDestroy(each);
  if (!all.ok()) return Status::failure(all.status().code(), all.status().trail());
  const auto most = std::ranges::max_element(all.value(), {}, [](const auto& each) { return each[0] + each[1]; });
  costs.idle = {.heap_bytes = (*most)[0], .shared_bytes = (*most)[1]};
  for (const auto& each : all.value()) {
    costs.idle.page_table_bytes = std::max(costs.idle.page_table_bytes, each[2]);
    costs.idle.descriptors = std::max(costs.idle.descriptors, each[3]);
    costs.idle.threads = std::max(costs.idle.threads, each[4]);
  }
  return costs;
}

Result<std::vector<PairTraffic>> gather_traffic(hcommComm_t comm) {
  const Communicator* const communicator = find_communicator(comm);
  const int ranks = communicator->ranks();
  std::vector<std::int64_t> own;
  for (int peer = 0; peer < ranks; ++peer) {
    const Traffic traffic = communicator->traffic(peer);
    own.push_back(static_cast<std::int64_t>(traffic.in_memory));
    own.push_back(static_cast<std::int64_t>(traffic.over_network));
  }
  std::vector<std::int64_t> all(own.size() * static_cast<std::size_t>(ranks));
  const hcommResult_t result = hcommAllGather(own.data(), all.data(), own.size(), hcommInt64, comm, nullptr);
  if (Status status = check(result, "gathering what was sent to whom"); !status.ok()) return status;
  std::vector<PairTraffic> pairs;
  std::size_t at = 0;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to, at += 2) {
      const Traffic traffic{static_cast<std::uint64_t>(all[at]), static_cast<std::uint64_t>(all[at + 1])};
      if (traffic != Traffic()) pairs.push_back({.from = from, .to = to, .traffic = traffic});
    }
  }
  return pairs;
}

}  // namespace hcomm
