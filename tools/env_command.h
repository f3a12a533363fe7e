// hcomm env: every knob with its value, where that was set, and what is legal.
#pragma once

#include <CLI/CLI.hpp>

namespace hcomm {

void add_env_command(CLI::App& app, int& exit_code);

}  // namespace hcomm
