// The program `hcomm`. Exit codes: 0 well, 1 wrong result or failed run, 2 wrong usage; `run` gives the ranks' own.

#define FMT_HEADER_ONLY
#include <fmt/format.h>
#include <hcomm/hcomm.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "command_line.h"
#include "description.h"
#include "env_command.h"
#include "pages_command.h"
#include "perf_command.h"
#include "plan_command.h"
#include "run_command.h"
#include "verify_command.h"

namespace {

// The words before the first "--", and those behind it: they belong to the program that is run.
struct Words {
  std::vector<std::string> own;
  std::vector<std::string> after_dashes;
};

Words split(int count, char** words) {
  Words split;
  bool behind = false;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (!behind && word == "--") {
      behind = true;
    } else {
      (behind ? split.after_dashes : split.own).push_back(word);
    }
  }
  return split;
}

std::string version_text() {
  int version = 0;
  hcommGetVersion(&version);
  return fmt::format("hcomm {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void check_command_name(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) throw hcomm::UsageError("no command; hcomm --help lists them");
  if (words.front().starts_with('-')) return;
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == words.front()) return;
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  throw hcomm::UsageError(hcomm::unknown_name("command", words.front(), names));
}

int run_main(int count, char** arguments) {
  int exit_code = 0;
  Words words = split(count, arguments);
  hcomm::Choices choices;
  CLI::App app("Collective communication between ranks: run programs, measure, explain.");
  app.name("hcomm");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  hcomm::add_run_command(app, exit_code, words.after_dashes);
  hcomm::add_perf_command(app, exit_code, words.own, choices);
  hcomm::add_plan_command(app, exit_code, choices);
  hcomm::add_verify_command(app, exit_code);
  hcomm::add_env_command(app, exit_code);
  hcomm::add_pages_commands(app, exit_code, choices, version_text());
  const std::string name = words.own.empty() ? "hcomm" : "hcomm " + words.own.front();
  try {
    check_command_name(app, words.own);
    std::reverse(words.own.begin(), words.own.end());  // CLI11 takes them from the back
    app.parse(words.own);
  } catch (const hcomm::UsageError& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return hcomm::kExitUsage;
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::Error& error) {
    fmt::print(stderr, "{}: {} (see {} --help)\n", name, error.what(), name);
    return hcomm::kExitUsage;
  }
  return exit_code;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run_main(count, arguments);
  } catch (const std::exception& surprise) {
    fmt::print(stderr, "hcomm: {}\n", surprise.what());
    return hcomm::kExitFailed;
  }
}
