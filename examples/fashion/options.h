// The command line of the example.
#pragma once

#include <string>

#include "train.h"

namespace fashion {

struct Options {
  Settings settings;
  std::string data = "/usr/share/datasets/fashion-mnist";  // where Debian's dataset-fashion-mnist puts it
  std::string json;                                        // a file for the outcome; empty: none
  bool single = false;                                     // one rank, without a launcher
  bool help = false;
};

// Throws std::invalid_argument with a text for the user.
Options parse_options(int count, const char* const* arguments);

extern const char* const kUsage;

}  // namespace fashion
