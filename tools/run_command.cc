#include "run_command.h"

#include <memory>

#include "base/knobs.h"
#include "base/parse.h"
#include "command_line.h"
#include "job.h"

namespace hcomm {
namespace {

struct Arguments {
  long ranks = 0;
  bool keep_going = false;
  bool prefix = false;
  std::string grace = "2s";
};

constexpr const char* kFooter =
    "The program's output comes line by line: a line holds bytes of one rank only. Rank 0 gets standard input, the others get\n"
    "/dev/null. The first rank that fails decides the exit code (128 and the signal's number for a signal; 127 program not\n"
    "found, 126 not executable); the other ranks then get SIGTERM and, after the grace, SIGKILL. Processes that ranks leave\n"
    "behind are ended too. Each rank finds HCOMM_RANK, HCOMM_SIZE and HCOMM_JOB in its environment.";

int run(const Arguments& arguments, const std::vector<std::string>& command) {
  if (arguments.ranks < 1 || arguments.ranks > kMaxJobRanks) {
    throw UsageError("-n is " + std::to_string(arguments.ranks) + "; legal are 1 to " + std::to_string(kMaxJobRanks) + " ranks");
  }
  if (command.empty()) throw UsageError("no program to run; write it behind two dashes: hcomm run -n 4 -- PROGRAM ARGS");
  const Result<TimeNs> grace = parse_duration(arguments.grace);
  if (!grace.ok()) throw UsageError("--grace: " + headline(grace.status()));
  return run_job({.ranks = static_cast<int>(arguments.ranks),
                  .keep_going = arguments.keep_going,
                  .prefix = arguments.prefix,
                  .grace_ns = grace.value()},
                 command);
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code, const std::vector<std::string>& after_dashes) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = app.add_subcommand("run", "Start N ranks of a program on this host");
  command->add_option("-n", arguments->ranks, "Number of ranks, 1 to 4096")->required()->type_name("N");
  command->add_flag("--keep-going", arguments->keep_going, "Let the other ranks finish by themselves when one has failed");
  command->add_flag("--prefix", arguments->prefix, "Begin each line of output with [rank]");
  command->add_option("--grace", arguments->grace, "Time between SIGTERM and SIGKILL: 2s, 500ms; 0 is never")->type_name("TIME");
  command->footer(kFooter);
  command->prefix_command();
  command->callback([command, arguments, after_dashes, &exit_code] {
    std::vector<std::string> words = command->remaining();
    words.insert(words.end(), after_dashes.begin(), after_dashes.end());
    exit_code = run(*arguments, words);
  });
}

}  // namespace hcomm
