// hcomm run -n N -- PROGRAM ARGS: starts N ranks of a program on this host.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace hcomm {

// `after_dashes`: the words behind the first "--", which CLI11 does not get to see.
void add_run_command(CLI::App& app, int& exit_code, const std::vector<std::string>& after_dashes);

}  // namespace hcomm
