#include "pages_command.h"

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "command_line.h"
#include "completion.h"
#include "manual_page.h"

namespace hcomm {
namespace {

struct Shell {
  std::string_view name;
  std::string (*completion)(const Description& description);
};
constexpr Shell kShells[] = {{"bash", &bash_completion}, {"zsh", &zsh_completion}, {"fish", &fish_completion}};

constexpr const char* kFooter =
    "Installing hcomm puts these scripts where the shells look. Without that: source <(hcomm completion bash), or zsh after\n"
    "its compinit; in fish, hcomm completion fish | source.";

std::string completion_for(const std::string& shell, const Description& description) {
  std::vector<std::string_view> names;
  for (const Shell& each : kShells) {
    if (each.name == shell) return each.completion(description);
    names.push_back(each.name);
  }
  throw UsageError(unknown_name("shell", shell, names));
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw UsageError("cannot write '" + path + "': " + std::strerror(errno));
}

void write_pages(const std::string& folder, const Description& description, const std::string& version) {
  write(folder + "/hcomm.1", program_page(description, version));
  for (const CommandDescription& command : description.commands) {
    write(folder + "/hcomm-" + command.name + ".1", command_page(description, command, version));
  }
}

}  // namespace

void add_pages_commands(CLI::App& app, int& exit_code, Choices& choices, const std::string& version) {
  auto shell = std::make_shared<std::string>();
  CLI::App* const completion = app.add_subcommand("completion", "Print the script that completes this command line in a shell");
  choices.offer(completion->add_option("shell", *shell, "bash, zsh or fish")->required(), {"bash", "zsh", "fish"});
  completion->footer(kFooter);
  completion->callback([&app, &choices, &exit_code, shell] {
    fmt::print("{}", completion_for(*shell, describe(app, choices)));
    exit_code = 0;
  });

  auto folder = std::make_shared<std::string>();
  CLI::App* const manual = app.add_subcommand("manual", "Write the manual pages into a folder")->group("");
  manual->add_option("folder", *folder, "Where to")->required()->type_name("DIR");
  manual->callback([&app, &choices, &exit_code, folder, version] {
    write_pages(*folder, describe(app, choices), version);
    exit_code = 0;
  });
}

}  // namespace hcomm
