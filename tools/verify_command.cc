#include "verify_command.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "command_line.h"
#include "proof_run.h"
#include "schedule/text.h"
#include "topology/cores.h"
#include "verify/verify.h"

namespace hcomm {
namespace {

constexpr int kMaxRanksOfAll = 256;
constexpr std::size_t kMaxStories = 10;

struct Words {
  std::vector<std::string> files;
  bool all = false;
  int max_ranks = 64;
  int jobs = 0;
};

std::string read_all(const std::string& file) {
  std::stringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream stream(file);
  if (!stream || !(text << stream.rdbuf())) throw UsageError(fmt::format("cannot read '{}', or it is empty", file));
  return text.str();
}

// True if proved.
bool verify_file(const std::string& file) {
  const Result<Schedule> schedule = parse_schedule(read_all(file));
  if (!schedule.ok()) throw UsageError(fmt::format("{}: {}", file, headline(schedule.status())));
  const Problem& problem = schedule.value().problem;
  const std::string what = fmt::format("{} {} of {} ranks with {} slots", schedule.value().algorithm,
                                       name(problem.collective), problem.ranks, problem.slots);
  const Judgement judgement = verify(schedule.value());
  if (judgement.proved()) {
    fmt::print("{}: PROVED  {}\n", file, what);
  } else {
    fmt::print("{}: REFUSED ({})  {}\n  {}\n", file, name(judgement.fault), what, judgement.story);
  }
  return judgement.proved();
}

// One line per algorithm and collective, and one for the pairs.
void print_counts(const ProofRun& run) {
  for (const Algorithm* algorithm : algorithms()) {
    std::size_t proved = 0;
    std::size_t refused = 0;
    for (std::size_t i = 0; i < run.cases.size(); ++i) {
      if (run.cases[i].first != algorithm || run.cases[i].second != nullptr) continue;
      ++(run.judgements[i].proved() ? proved : refused);
    }
    fmt::print("{:<15} {:<20} {:>6} proved {:>6} refused\n", name(algorithm->collective), algorithm->name, proved, refused);
  }
}

int verify_all(const Words& words) {
  const ProofRun run = prove_all(words.max_ranks, words.jobs > 0 ? words.jobs : usable_cores());
  print_counts(run);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    if (run.judgements[i].proved() || ++refused > kMaxStories) continue;
    fmt::print("REFUSED ({})  {}\n  {}\n", name(run.judgements[i].fault), describe(run.cases[i]), run.judgements[i].story);
  }
  if (refused > kMaxStories) fmt::print("... and {} more\n", refused - kMaxStories);
  const auto pairs =
      std::ranges::count_if(run.cases, [](const ProofCase& proof_case) { return proof_case.second != nullptr; });
  fmt::print("{}  {} of {} cases: every algorithm at 1 to {} ranks, and {} pairs, in {:.1f} s\n",
             refused == 0 ? "PROVED" : "REFUSED", refused == 0 ? run.cases.size() : refused, run.cases.size(),
             words.max_ranks, pairs, run.seconds);
  return refused == 0 ? 0 : kExitFailed;
}

int run(const Words& words) {
  if (words.all == !words.files.empty()) throw UsageError("name schedule files ('-' is standard input), or --all");
  if (words.all) return verify_all(words);
  bool all_proved = true;
  for (const std::string& file : words.files) all_proved = verify_file(file) && all_proved;
  return all_proved ? 0 : kExitFailed;
}

}  // namespace

void add_verify_command(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<Words>();
  CLI::App* const command = app.add_subcommand("verify", "Prove schedules right, or refuse them with the reason");
  command->add_option("files", words->files, "Schedules in text form; - is standard input")->type_name("FILE");
  command->add_flag("--all", words->all, "Prove every algorithm of this library, and every pair that shares memory");
  command->add_option("--max-ranks", words->max_ranks, "With --all: prove at 1 to so many ranks")
      ->check(CLI::Range(1, kMaxRanksOfAll))
      ->capture_default_str();
  command->add_option("--jobs", words->jobs, "With --all: threads; all usable cores if not given")->check(CLI::Range(1, 1024));
  command->callback([words, &exit_code] { exit_code = run(*words); });
}

}  // namespace hcomm
