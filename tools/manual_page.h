// Manual pages of section 1, in the man macros of roff.
#pragma once

#include <string>

#include "description.h"

namespace hcomm {

std::string program_page(const Description& description, const std::string& version);  // hcomm(1), with all settings
std::string command_page(const Description& description, const CommandDescription& command, const std::string& version);

}  // namespace hcomm
