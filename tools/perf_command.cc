#include "perf_command.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "base/knobs.h"
#include "bootstrap/launch.h"
#include "comm/open.h"
#include "kernels/combine.h"
#include "command_line.h"
#include "job.h"
#include "kernels/combine.h"
#include "perf_cost.h"
#include "perf_layout.h"
#include "perf_measure.h"
#include "perf_report.h"
#include "plan/choose.h"

namespace hcomm {
namespace {

constexpr const char* kFooter =
    "Bandwidths are in 10^9 bytes per second: algbw = size / time; busbw = algbw times 2 (n-1)/n for allreduce, (n-1)/n for\n"
    "reduce_scatter, allgather, gather, scatter and alltoall, 1 for broadcast and reduce; 0 for one rank. The size is that of\n"
    "the larger buffer. The time is the median over repetitions of the mean per call, on the slowest rank; min, max and p99\n"
    "(JSON, CSV) are of single calls in a pass of their own.\n"
    "--mode latency: 8 B to 8 KiB, with more calls; average, least, 99th percentile and most. --mode bandwidth: 1 MiB to\n"
    "64 MiB. --mode osu: 4 B to 1 MiB, the two columns of the OSU micro-benchmarks, whose size is one rank's part where each\n"
    "has one (allgather, gather, scatter, alltoall); the latency is that of the slowest rank. All three are out of place.\n"
    "Every element of three calls is compared, before and after the timing; #wrong counts those that differ by any bit.\n"
    "init: the time to make the communicator, on the slowest rank, and its parts. idle communicator: what a further one of the\n"
    "same ranks holds before its first call (heap and touched shared pages, a mean of four), on the rank where it is most. The\n"
    "JSON also has the bytes that each pair of ranks exchanged in messages, through memory and over the network.";

int complain(const Status& status) {
  fmt::print(stderr, "hcomm perf: {}\n", status.trail());
  return kExitFailed;
}

std::vector<PerfCase> cases_of(const PerfOptions& options, Collective collective) {
  std::vector<PerfCase> cases;
  if (collective == Collective::barrier) {
    cases.push_back(make_case(collective, options.types.front(), options.ops.front(), options.root, options.ranks, 0));
    return cases;
  }
  const std::size_t ops = reduces(collective) ? options.ops.size() : 1;
  for (const TypeName& type : options.types) {
    for (std::size_t op = 0; op < ops; ++op) {
      if (reduces(collective) && !has_op(type.dtype, options.ops[op].op)) continue;
      const std::size_t first = cases.size();
      for (const std::size_t size : options.sizes) {
        const std::size_t bytes = case_bytes(options.mode, collective, options.ranks, size);
        const PerfCase made = make_case(collective, type, options.ops[op], options.root, options.ranks, bytes);
        if (cases.size() == first || cases.back().count != made.count) cases.push_back(made);
      }
    }
  }
  return cases;
}

Result<PerfRow> measure_row(PerfBench& bench, PerfMode mode, const PerfCase& what, const Pattern& pattern) {
  PerfRow row{.what = what};
  Result<PerfResult> out_of_place = bench.measure(what, pattern, false);
  if (!out_of_place.ok()) return std::move(out_of_place).status();
  row.out_of_place = std::move(out_of_place).value();
  if (what.collective == Collective::barrier || mode != PerfMode::table) return row;
  Result<PerfResult> in_place = bench.measure(what, pattern, true);
  if (!in_place.ok()) return std::move(in_place).status();
  row.in_place = std::move(in_place).value();
  return row;
}

// All rows of one collective. Returns the wrong elements.
Result<std::uint64_t> measure_collective(PerfBench& bench, const PerfOptions& options, Collective collective,
                                         PerfReport* report) {
  std::uint64_t wrong = 0;
  std::unique_ptr<Pattern> pattern;
  std::string_view type;
  std::string_view op;
  const std::vector<PerfCase> cases = cases_of(options, collective);
  if (report != nullptr && !cases.empty()) report->begin_collective(cases.front());
  for (const PerfCase& what : cases) {
    if (pattern == nullptr || type != what.type.name || op != what.op.name) {
      pattern = std::make_unique<Pattern>(what.type, what.op.op, bench.ranks());
      type = what.type.name;
      op = what.op.name;
    }
    Result<PerfRow> row = measure_row(bench, options.mode, what, *pattern);
    if (!row.ok())
      return std::move(row).status().during("measuring " + std::string(name(collective)) + " of " + std::to_string(what.bytes) +
                                            " bytes");
    wrong += row.value().out_of_place.wrong + (row.value().in_place ? row.value().in_place->wrong : 0);
    if (report != nullptr) report->add(std::move(row).value());
  }
  return wrong;
}

int measure_all(hcommComm_t comm, const PerfOptions& options) {
  std::size_t largest = 1;
  for (const Collective collective : options.collectives) {
    for (const PerfCase& what : cases_of(options, collective)) largest = std::max(largest, what.bytes);
  }
  Result<PerfCosts> costs = measure_costs(comm);
  if (!costs.ok()) return complain(costs.status());
  Result<PerfBench> bench = PerfBench::make(comm, options, largest);
  if (!bench.ok()) return complain(bench.status());
  std::unique_ptr<PerfReport> report;
  if (bench.value().rank() == 0) report = std::make_unique<PerfReport>(options, bench.value().ranks(), costs.value());
  if (report != nullptr) report->begin();
  std::uint64_t wrong = 0;
  for (const Collective collective : options.collectives) {
    Result<std::uint64_t> counted = measure_collective(bench.value(), options, collective, report.get());
    if (!counted.ok()) return complain(counted.status());
    wrong += counted.value();
  }
  Result<std::vector<PairTraffic>> traffic = gather_traffic(comm);
  if (!traffic.ok()) return complain(traffic.status());
  if (report != nullptr) {
    report->end();
    if (!options.json_path.empty()) {
      if (Status status = report->write_json(traffic.value()); !status.ok()) return complain(status);
    }
  }
  return wrong == 0 ? 0 : kExitFailed;
}

int run_as_rank(const PerfOptions& options) {
  hcommComm_t comm = nullptr;
  if (hcommCommInitEnv(&comm) != hcommSuccess) {
    fmt::print(stderr, "hcomm perf: {}\n", hcommGetLastError(nullptr));
    return kExitFailed;
  }
  const int code = measure_all(comm, options);
  return hcommCommDestroy(comm) == hcommSuccess ? code : kExitFailed;
}

// Of the launcher that started this process, as hcommCommInitEnv will see it; 0: none did.
int launched_ranks() {
  const Detection detection = detect();
  if (detection.chosen == nullptr) return 0;
  if (!detection.launch.ok()) throw UsageError(headline(detection.launch.status()));
  return detection.launch.value().ranks;
}

// Early, so that of a job of perf's own a bad setting is one error, and not one of each rank.
void check_settings(const PerfOptions& options) {
  const Result<KnobReading> knobs = read_knobs(process_sources());
  if (!knobs.ok()) throw UsageError(headline(knobs.status()));
  const Settings& settings = knobs.value().settings;
  for (const Collective collective : options.collectives) {
    const Result<std::string_view> algorithm = requested_algorithm(settings.algo, collective);
    if (!algorithm.ok()) throw UsageError(headline(algorithm.status()));
  }
  if (const auto combine = find_combine(hcommInt32, hcommSum, settings.kernels); !combine.ok()) {
    throw UsageError("HCOMM_KERNELS: " + headline(combine.status()));
  }
  const Result<std::string_view> transport = choose_transport(settings, true);
  if (!transport.ok()) throw UsageError(headline(transport.status()));
}

int run(const PerfWords& words, const std::vector<std::string>& command_line) {
  const int launched = launched_ranks();
  const PerfOptions options = understand(words, launched);
  if (!options.algorithm.empty()) setenv("HCOMM_ALGO", options.algorithm.c_str(), 1);  // before there is a second thread
  check_settings(options);
  if (launched > 0) return run_as_rank(options);
  if (!options.json_path.empty()) {
    if (const Status status = check_writable(options.json_path); !status.ok()) throw UsageError("--json: " + headline(status));
  }
  std::vector<std::string> command = {"/proc/self/exe"};
  command.insert(command.end(), command_line.begin(), command_line.end());
  return run_job({.ranks = options.ranks}, command);
}

std::vector<std::string> mode_words() {
  std::vector<std::string> words;
  for (const PerfMode mode : kPerfModes) words.emplace_back(name(mode));
  return words;
}

}  // namespace

void add_perf_command(CLI::App& app, int& exit_code, const std::vector<std::string>& words, Choices& choices) {
  auto given = std::make_shared<PerfWords>();
  CLI::App* const command = app.add_subcommand("perf", "Measure collectives, with every element checked");
  const std::string collectives =
      "allreduce, broadcast, reduce_scatter, allgather, barrier, reduce, gather, scatter, alltoall or all";
  choices.offer(command->add_option("collective", given->collective, collectives)->required(), collective_words("all"));
  choices.offer(command->add_option("--mode", given->mode, "What for, and so which columns: table, latency, bandwidth or osu")
                    ->capture_default_str(),
                mode_words());
  command->add_option("-n", given->ranks, "Number of ranks to start; under a launcher it is the launcher's [4]")
      ->type_name("N");
  command->add_option("-b,--minbytes", given->begin, "First size: 8, 4K, 64M [8; by mode]")->type_name("SIZE");
  command->add_option("-e,--maxbytes", given->end, "Last size [64M; by mode]")->type_name("SIZE");
  command->add_option("-f,--stepfactor", given->factor, "Sizes grow by this factor [2]")->type_name("N");
  command->add_option("-i,--stepbytes", given->step, "Sizes grow by these bytes")->type_name("SIZE");
  choices.offer(
      command->add_option("-t,--datatype", given->dtype, "float32, bfloat16, int8, bool, complex64, ... (docs/types.md) or all")
          ->capture_default_str(),
      type_words("all"));
  choices.offer(
      command->add_option("-o,--op", given->op, "sum, prod, min, max, avg, land, lor, lxor, band, bor, bxor or all the type has")
          ->capture_default_str(),
      op_words("all"));
  command->add_option("-r,--root", given->root, "Root of broadcast")->capture_default_str();
  command->add_option("--iters", given->iterations, "Calls per repetition; 0: as many as fill 20 ms, or 100 for latency")
      ->capture_default_str();
  command->add_option("--warmup", given->warmup, "Calls before the timing [5; 100 for latency and osu]")->type_name("N");
  command->add_option("--repetitions", given->repetitions, "Timed repetitions; the median counts")->capture_default_str();
  choices.offer(command->add_option("--algo", given->algorithm, "Algorithm, as HCOMM_ALGO")->type_name("NAME"),
                algorithm_words("adaptive"));
  choices.offer(command->add_option("--memory", given->memory, "Buffers that peers can map, or not: shared or private")
                    ->capture_default_str(),
                {"shared", "private"});
  command->add_option("--json", given->json_path, "Also write one JSON object to this file")->type_name("FILE");
  command->add_flag("--csv", given->csv, "Print comma-separated values instead of the table");
  command->footer(kFooter);
  command->callback([given, words, &exit_code] { exit_code = run(*given, words); });
}

}  // namespace hcomm
