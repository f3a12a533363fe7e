// hcomm perf COLLECTIVE|all: measures collectives, with every element checked. Without a launcher it starts its own ranks.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "description.h"

namespace hcomm {

// `words`: the command line as given, to start ranks with.
void add_perf_command(CLI::App& app, int& exit_code, const std::vector<std::string>& words, Choices& choices);

}  // namespace hcomm
