// hcomm completion SHELL, and hcomm manual DIR (hidden: the build calls it): what is made of the definitions of all commands.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "description.h"

namespace hcomm {

// `choices` must live as long as `app`, and may get more after this.
void add_pages_commands(CLI::App& app, int& exit_code, Choices& choices, const std::string& version);

}  // namespace hcomm
