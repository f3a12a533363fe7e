// hcomm plan [COLLECTIVE]: which algorithm would serve a call, what each candidate would do, and why. Moves nothing.
#pragma once

#include <CLI/CLI.hpp>

#include "description.h"

namespace hcomm {

void add_plan_command(CLI::App& app, int& exit_code, Choices& choices);

}  // namespace hcomm
