// hcomm verify FILE... | --all: proves schedules, or refuses them with a story. Exit codes: 0 all proved, 1 one refused, 2 usage
// (a file that cannot be read is usage, too).
#pragma once

#include <CLI/CLI.hpp>

namespace hcomm {

void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace hcomm
