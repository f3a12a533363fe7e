// Scripts that complete the words of the command line in shells.
#pragma once

#include <string>

#include "description.h"

namespace hcomm {

std::string bash_completion(const Description& description);
std::string zsh_completion(const Description& description);
std::string fish_completion(const Description& description);

}  // namespace hcomm
