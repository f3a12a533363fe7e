#include "plan_command.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parse.h"
#include "command_line.h"
#include "comm/open.h"
#include "kernels/combine.h"
#include "plan/choose.h"
#include "schedule/binding.h"
#include "topology/cores.h"

namespace hcomm {
namespace {

struct Words {
  std::string collective;
  int ranks = 4;
  std::string bytes = "1M";
  std::string dtype = "float32";
  std::string op = "sum";
  std::string algorithm;
  std::string layout;
  int hosts = 1;
  int root = 0;
  int cores = 0;
  bool no_window = false;
  bool json = false;
};

constexpr int kMaxRanksOfHash = 256;  // of more ranks not all programs are written, to be quick

struct Row {
  Candidate candidate;
  std::string hash;  // of the whole schedule
};

// One collective: what was asked, what there is, what was chosen.
struct Plan {
  PlanRequest request;
  std::vector<Row> rows;
  Choice choice;
};

std::vector<Collective> collectives_of(const std::string& given) {
  std::vector<std::string_view> names;
  for (const Collective collective : kCollectives) {
    if (name(collective) == given) return {collective};
    names.push_back(name(collective));
  }
  if (given.empty()) return {kCollectives.begin(), kCollectives.end()};
  throw UsageError(unknown_name("collective", given, names));
}

hcommDataType_t type_of(const std::string& given) {
  std::vector<std::string_view> names;
  for (const hcommDataType_t dtype : combine_types()) {
    if (name(dtype) == given) return dtype;
    names.push_back(name(dtype));
  }
  throw UsageError(unknown_name("type", given, names));
}

// Of those that the type has.
hcommRedOp_t op_of(const std::string& given, hcommDataType_t dtype) {
  std::vector<std::string_view> names;
  for (const hcommRedOp_t op : combine_ops(dtype)) {
    if (name(op) == given) return op;
    names.push_back(name(op));
  }
  throw UsageError(unknown_name(std::string("operation of ") + std::string(name(dtype)), given, names));
}

RankLayout layout_of(const Words& words) {
  if (!words.layout.empty() && words.hosts != 1) throw UsageError("--layout and --hosts: give one of them");
  Result<RankLayout> layout = RankLayout();
  if (!words.layout.empty()) layout = parse_layout(words.layout, words.ranks);
  if (words.hosts != 1) layout = even_layout(words.hosts, words.ranks);
  if (!layout.ok()) throw UsageError(headline(layout.status()));
  return std::move(layout).value();
}

// As a communicator of this machine would ask. The size is that of the larger buffer, as in `hcomm perf`.
PlanRequest request_of(Collective collective, const Words& words, const Settings& settings) {
  const Result<std::size_t> bytes = parse_size(words.bytes);
  if (!bytes.ok()) throw UsageError(fmt::format("--bytes {}: {}", words.bytes, headline(bytes.status())));
  if (words.root < 0 || words.root >= words.ranks) {
    throw UsageError(fmt::format("--root {}: legal are 0 to {}", words.root, words.ranks - 1));
  }
  const Result<Sizes> sizes = choose_sizes(words.ranks, settings);
  if (!sizes.ok()) throw UsageError(headline(sizes.status()));
  const hcommDataType_t dtype = type_of(words.dtype);
  PlanRequest request{.collective = collective, .ranks = words.ranks, .root = has_root(collective) ? words.root : 0};
  request.element_bytes = element_bytes(dtype);
  request.partial_bytes = request.element_bytes;
  request.sum_bytes = request.element_bytes;
  if (reduces(collective)) {
    const hcommRedOp_t op = op_of(words.op, dtype);
    request.partial_bytes = partial_bytes(dtype, op);
    if (!sums_fit_elements(dtype, op)) request.sum_bytes = request.partial_bytes;
  }
  const std::size_t share = is_strided(collective) ? bytes.value() / static_cast<std::size_t>(words.ranks) : bytes.value();
  request.bytes = collective == Collective::barrier ? 0 : share / request.element_bytes * request.element_bytes;
  request.cores = words.cores > 0 ? words.cores : usable_cores();
  request.layout = layout_of(words);
  const bool has_window = !words.no_window && words.ranks > 1 && request.layout.hosts() == 1;
  request.slots = has_window ? sizes.value().slots : 1;
  request.room = {.chunk_bytes = settings.chunk_bytes,
                  .has_window = has_window,
                  .slot_bytes = has_window ? sizes.value().slot_bytes : 0};
  return request;
}

Plan plan_of(const PlanRequest& request, const Settings& settings) {
  Plan plan{.request = request, .rows = {}, .choice = {}};
  const Result<Choice> choice = choose(request, settings);
  if (!choice.ok()) throw UsageError(headline(choice.status()));
  plan.choice = choice.value();
  for (Candidate& candidate : candidates(request)) {
    std::string text = "-";
    if (request.ranks <= kMaxRanksOfHash) {
      text = fmt::format("{:016x}", hash(write_schedule(*candidate.algorithm, request.problem())));
    }
    plan.rows.push_back({std::move(candidate), std::move(text)});
  }
  return plan;
}

std::string_view class_of(const Algorithm& algorithm) { return algorithm.expression.empty() ? "-" : algorithm.expression; }

void print_text(const Plan& plan) {
  const PlanRequest& request = plan.request;
  fmt::print("{} of {} ranks on {} cores", name(request.collective), request.ranks, request.cores);
  if (request.collective != Collective::barrier) {
    fmt::print(", {} bytes{}", request.bytes, is_strided(request.collective) ? " a rank" : "");
  }
  const int hosts = request.layout.hosts();
  if (hosts > 1) fmt::print(", on {} hosts ({})", hosts, to_text(request.layout, request.ranks));
  fmt::print(", {}\n", request.room.has_window ? fmt::format("{} slots of {} bytes", request.slots, request.room.slot_bytes)
                                               : std::string("no window"));
  fmt::print("  {:<19} {:<16} {:>7} {:>7} {:>7} {:>12} {:>12} {:>12} {:>13}  {}\n", "algorithm", "schedule", "chunks", "ops",
             "rounds", "window bytes", "shm bytes", "tcp bytes", "predicted us", "result class");
  for (const Row& row : plan.rows) {
    const Candidate& candidate = row.candidate;
    const char mark = candidate.algorithm == plan.choice.algorithm ? '*' : ' ';
    if (!candidate.refused.empty()) {
      fmt::print("{} {:<19} {:<16} refused: {}\n", mark, candidate.algorithm->name, row.hash, candidate.refused);
      continue;
    }
    const LinkBytes& links = candidate.link_bytes;
    fmt::print("{} {:<19} {:<16} {:>7} {:>7} {:>7} {:>12} {:>12} {:>12} {:>13.2f}  {}\n", mark, candidate.algorithm->name,
               row.hash, candidate.chunks, candidate.ops, candidate.rounds, links.window, links.shm, links.tcp,
               candidate.predicted_us, class_of(*candidate.algorithm));
  }
  fmt::print("  {}, decided by {}: {}\n\n", plan.choice.algorithm->name, plan.choice.decided_by, plan.choice.why);
}

nlohmann::ordered_json json_of(const Plan& plan) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : plan.rows) {
    const Candidate& candidate = row.candidate;
    nlohmann::ordered_json entry{{"algorithm", candidate.algorithm->name},
                                 {"schedule", row.hash},
                                 {"result_class", candidate.algorithm->expression}};
    if (candidate.refused.empty()) {
      entry.update({{"chunks", candidate.chunks},
                    {"ops", candidate.ops},
                    {"moved_bytes", candidate.moved_bytes},
                    {"link_bytes", {{"window", candidate.link_bytes.window}, {"shm", candidate.link_bytes.shm},
                                    {"tcp", candidate.link_bytes.tcp}}},
                    {"rounds", candidate.rounds},
                    {"predicted_us", candidate.predicted_us}});
    } else {
      entry["refused"] = candidate.refused;
    }
    rows.push_back(std::move(entry));
  }
  const PlanRequest& request = plan.request;
  return {{"collective", name(request.collective)},
          {"ranks", request.ranks},
          {"root", request.root},
          {"cores", request.cores},
          {"bytes", request.bytes},
          {"slots", request.slots},
          {"slot_bytes", request.room.slot_bytes},
          {"has_window", request.room.has_window},
          {"layout", to_text(request.layout, request.ranks)},
          {"candidates", rows},
          {"chosen", plan.choice.algorithm->name},
          {"decided_by", plan.choice.decided_by},
          {"why", plan.choice.why}};
}

int run(const Words& words) {
  Result<KnobReading> reading = read_knobs(process_sources());
  if (!reading.ok()) throw UsageError(headline(reading.status()));
  Settings settings = reading.value().settings;
  if (!words.algorithm.empty()) settings.algo = words.algorithm;

  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Collective collective : collectives_of(words.collective)) {
    const Plan plan = plan_of(request_of(collective, words, settings), settings);
    if (words.json) {
      all.push_back(json_of(plan));
    } else {
      print_text(plan);
    }
  }
  if (words.json) fmt::print("{}\n", nlohmann::ordered_json{{"plans", all}}.dump(2));
  return 0;
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code, Choices& choices) {
  auto words = std::make_shared<Words>();
  CLI::App* const command = app.add_subcommand("plan", "Show which algorithm would serve a call, and why");
  choices.offer(command->add_option("collective", words->collective, "allreduce, broadcast, ...; all if not given"),
                collective_words());
  command->add_option("-n,--ranks", words->ranks, "Ranks of all hosts")->check(CLI::Range(1, kMaxRanks))->capture_default_str();
  command->add_option("-b,--bytes", words->bytes, "Size of the larger buffer: 8, 4K, 64M")->capture_default_str();
  choices.offer(command->add_option("-d,--type", words->dtype, "Element type")->capture_default_str(), type_words());
  choices.offer(command->add_option("-o,--op", words->op, "Operation of a reduction")->capture_default_str(), op_words());
  choices.offer(command->add_option("--algo", words->algorithm, "As HCOMM_ALGO, and instead of it"), algorithm_words("adaptive"));
  command->add_option("--layout", words->layout, "Hosts times ranks of each, as 2x2, or ranks of each host, as 3+1");
  command->add_option("--hosts", words->hosts, "So many hosts, as evenly filled as can be")->capture_default_str();
  command->add_option("--root", words->root, "Root of a broadcast or reduce")->capture_default_str();
  command->add_option("--cores", words->cores, "Cores that all ranks share; those of this process if not given")
      ->check(CLI::Range(1, 1 << 16));
  command->add_flag("--no-window", words->no_window, "As if the ranks shared no memory");
  command->add_flag("--json", words->json, "Print one JSON object");
  command->callback([words, &exit_code] { exit_code = run(*words); });
}

}  // namespace hcomm
