#include "perf_report.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/descriptor.h"
#include "base/knobs.h"
#include "perf_layout.h"

namespace hcomm {
namespace {

std::string version_text() {
  int version = 0;
  hcommGetVersion(&version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

int usable_processors() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

nlohmann::ordered_json machine() {
  utsname system{};
  uname(&system);
  struct sysinfo memory {};
  sysinfo(&memory);
  return {{"host", system.nodename},
          {"processor", processor_name()},
          {"usable_processors", usable_processors()},
          {"memory_bytes", memory.totalram * memory.mem_unit},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"architecture", system.machine}};
}

nlohmann::ordered_json settings() {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  const Result<KnobReading> reading = read_knobs(process_sources());
  if (!reading.ok()) return all;
  for (const KnobValue& value : reading.value().values) all[std::string(value.knob->name)] = value.value;
  return all;
}

nlohmann::ordered_json row_json(const PerfCase& what, const PerfResult& result) {
  const bool typed = what.collective != Collective::barrier;
  return {{"collective", name(what.collective)},
          {"bytes", what.bytes},
          {"count", what.count},
          {"dtype", typed ? what.type.name : "none"},
          {"op", reduces(what.collective) ? what.op.name : "none"},
          {"root", what.root},
          {"algorithm", result.algorithm},
          {"transport", result.transport},
          {"in_place", result.in_place},
          {"iterations", result.iterations},
          {"time_us", result.time_us},
          {"min_us", result.min_us},
          {"max_us", result.max_us},
          {"p99_us", result.p99_us},
          {"algbw_gbs", result.algbw_gbs},
          {"busbw_gbs", result.busbw_gbs},
          {"wrong", result.wrong}};
}

double microseconds(TimeNs time) { return static_cast<double>(time) / 1000; }
double milliseconds(TimeNs time) { return static_cast<double>(time) / 1e6; }

nlohmann::ordered_json init_json(const PerfCosts& costs) {
  const InitTimes& init = costs.init;
  return {{"rank", costs.slowest},
          {"whole_us", microseconds(init.whole_ns)},
          {"prepare_us", microseconds(init.prepare_ns)},
          {"gather_us", microseconds(init.gather_ns)},
          {"table_us", microseconds(init.table_ns)},
          {"segment_us", microseconds(init.segment_ns)},
          {"transport_us", microseconds(init.transport_ns)},
          {"agree_us", microseconds(init.agree_ns)}};
}

nlohmann::ordered_json idle_json(const IdleCost& idle) {
  return {{"bytes", idle.bytes()},
          {"heap_bytes", idle.heap_bytes},
          {"shared_bytes", idle.shared_bytes},
          {"page_table_bytes", idle.page_table_bytes},
          {"descriptors", idle.descriptors},
          {"threads", idle.threads}};
}

nlohmann::ordered_json traffic_json(const std::vector<PairTraffic>& traffic) {
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const PairTraffic& pair : traffic) {
    pairs.push_back({{"from", pair.from},
                     {"to", pair.to},
                     {"in_memory", pair.traffic.in_memory},
                     {"over_network", pair.traffic.over_network}});
  }
  return pairs;
}

std::string columns(const PerfResult& result) {
  return fmt::format(" {:>9.2f} {:>7.2f} {:>7.2f} {:>6}", result.time_us, result.algbw_gbs, result.busbw_gbs, result.wrong);
}

std::string_view type_text(const PerfCase& what) { return what.collective == Collective::barrier ? "none" : what.type.name; }
std::string_view op_text(const PerfCase& what) { return reduces(what.collective) ? what.op.name : "none"; }

}  // namespace

Status check_writable(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file.open()) return {};
  return Status::failure(hcommInvalidArgument, "cannot write '" + path + "': " + std::strerror(errno));
}

void PerfReport::begin() const {
  if (options_.csv) {
    fmt::print("collective,bytes,count,dtype,op,root,algorithm,transport,in_place,iterations,time_us,min_us,max_us,p99_us,"
               "algbw_gbs,busbw_gbs,wrong\n");
    return;
  }
  if (options_.mode != PerfMode::table) return;
  fmt::print("# hcomm {}: {} ranks on {} usable processors ({}), {} memory\n", version_text(), ranks_, usable_processors(),
             processor_name(), options_.private_memory ? "private" : "shared");
  const InitTimes& init = costs_.init;
  fmt::print("# init              : {:.1f} ms on rank {}, the slowest: {:.1f} to prepare, {:.1f} until all had come,\n"
             "#                     {:.1f} table, {:.1f} segment, {:.1f} transport, {:.1f} agreement\n",
             milliseconds(init.whole_ns), costs_.slowest, milliseconds(init.prepare_ns), milliseconds(init.gather_ns),
             milliseconds(init.table_ns), milliseconds(init.segment_ns), milliseconds(init.transport_ns),
             milliseconds(init.agree_ns));
  const IdleCost& idle = costs_.idle;
  fmt::print("# idle communicator : {} bytes a rank ({} heap, {} shared), {} descriptors, {} threads\n", idle.bytes(),
             idle.heap_bytes, idle.shared_bytes, idle.descriptors, idle.threads);
}

void PerfReport::begin_collective(const PerfCase& first) const {
  if (options_.csv) return;
  if (options_.mode != PerfMode::table) {
    fmt::print("{}", layout_heading(options_, first, ranks_, version_text()));
    return;
  }
  fmt::print("#\n# {}\n", name(first.collective));
  fmt::print("#{:>11} {:>12} {:>9} {:>6} {:>5} {:^32} {:^32}\n", "", "", "", "", "", "out-of-place", "in-place");
  fmt::print("#{:>11} {:>12} {:>9} {:>6} {:>5}", "size", "count", "type", "redop", "root");
  for (int i = 0; i < 2; ++i) fmt::print(" {:>9} {:>7} {:>7} {:>6}", "time", "algbw", "busbw", "#wrong");
  fmt::print("\n#{:>11} {:>12} {:>9} {:>6} {:>5}", "(B)", "(elements)", "", "", "");
  for (int i = 0; i < 2; ++i) fmt::print(" {:>9} {:>7} {:>7} {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  fmt::print("\n");
  std::fflush(stdout);
}

void PerfReport::add(PerfRow row) {
  wrong_ += row.out_of_place.wrong + (row.in_place ? row.in_place->wrong : 0);
  if (options_.csv) {
    print_csv(row.what, row.out_of_place);
    if (row.in_place) print_csv(row.what, *row.in_place);
  } else if (options_.mode != PerfMode::table) {
    fmt::print("{}", layout_row(options_.mode, row.what, row.out_of_place));
  } else {
    const std::string none = fmt::format(" {:>9} {:>7} {:>7} {:>6}", "-", "-", "-", "-");
    fmt::print("{:>12} {:>12} {:>9} {:>6} {:>5}{}{}\n", row.what.bytes, row.what.count, type_text(row.what), op_text(row.what),
               row.what.root, columns(row.out_of_place), row.in_place ? columns(*row.in_place) : none);
  }
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

void PerfReport::print_csv(const PerfCase& what, const PerfResult& result) const {
  fmt::print("{},{},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.4f},{}\n", name(what.collective), what.bytes,
             what.count, type_text(what), op_text(what), what.root, result.algorithm, result.transport, result.in_place ? 1 : 0,
             result.iterations, result.time_us, result.min_us, result.max_us, result.p99_us, result.algbw_gbs, result.busbw_gbs,
             result.wrong);
}

double PerfReport::average_busbw() const {
  double sum = 0;
  int rows = 0;
  for (const PerfRow& row : rows_) {
    if (row.what.collective == Collective::barrier) continue;
    sum += row.out_of_place.busbw_gbs + (row.in_place ? row.in_place->busbw_gbs : 0);
    rows += row.in_place ? 2 : 1;
  }
  return rows == 0 ? 0 : sum / rows;
}

void PerfReport::end() const {
  if (options_.csv) return;
  fmt::print("# Out of bounds values : {} {}\n", wrong_, wrong_ == 0 ? "OK" : "FAILED");
  if (options_.mode == PerfMode::table) fmt::print("# Avg bus bandwidth    : {:.4f}\n", average_busbw());
  std::fflush(stdout);
}

Status PerfReport::write_json(const std::vector<PairTraffic>& traffic) const {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PerfRow& row : rows_) {
    rows.push_back(row_json(row.what, row.out_of_place));
    if (row.in_place) rows.push_back(row_json(row.what, *row.in_place));
  }
  nlohmann::ordered_json whole = nlohmann::ordered_json::object();
  whole["machine"] = machine();
  whole["version"] = version_text();
  whole["settings"] = settings();
  whole["ranks"] = ranks_;
  whole["init"] = init_json(costs_);
  whole["idle_communicator"] = idle_json(costs_.idle);
  whole["traffic"] = traffic_json(traffic);
  whole["rows"] = std::move(rows);
  std::ofstream file(options_.json_path, std::ios::trunc);
  file << whole.dump(2) << '\n';
  file.close();
  if (file) return {};
  return Status::failure(hcommSystemError, "cannot write '" + options_.json_path + "': " + std::strerror(errno));
}

}  // namespace hcomm
