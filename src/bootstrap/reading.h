// What one launcher's variables say, whether or not it is the one that counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "bootstrap/launchers.h"
#include "bootstrap/surroundings.h"
#include "hcomm/types.h"

namespace hcomm {

struct Reading {
  const Launcher* launcher = nullptr;
  std::string by;       // the variables that show it; empty: it did not start this process
  std::string near;     // why it is not found although it seems near; may be empty
  std::optional<int> rank;
  std::optional<int> ranks;
  std::optional<int> local_rank;
  std::optional<int> local_ranks;
  std::optional<int> hosts;
  std::string problem;  // why it cannot be used although it is there; empty: it can
  hcommResult_t code = hcommSuccess;
  bool incomplete = false;               // the problem is that variables are missing
  std::optional<std::size_t> ancestor;   // the nearest of its processes among the ancestors

  bool found() const { return !by.empty(); }
};

Reading read_launcher(const Launcher& launcher, const Surroundings& surroundings);

// A whole number from least to most; else the text says which variable, what it is and what is legal.
std::optional<int> legal_number(std::string_view text, int least, int most);
std::string not_legal(std::string_view name, std::string_view text, int least, int most, std::string_view launcher);

}  // namespace hcomm
