// HCCL's rank table: a file of JSON that says which rank is on which server. Versions 1.x ("server_list", every value a string)
// and 2.0 ("rank_list", numbers) are read; what is said of devices beyond their number is not used here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hcomm {

inline constexpr int kMaxTableDepth = 32;  // of brackets in brackets

struct RankTable {
  std::vector<std::string> servers;  // [rank]: the id of its server; the same for ranks of one host
  std::string first_address;         // of rank 0's server, as a name or a number

  int ranks() const { return static_cast<int>(servers.size()); }
  bool one_host() const;
};

// Ranks are unique and complete from 0 on, or it is InvalidArgument that names the server and the device, or the entry, which is
// wrong, and what is legal.
Result<RankTable> parse_rank_table(std::string_view text);

}  // namespace hcomm
