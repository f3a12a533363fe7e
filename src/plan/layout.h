// Which ranks are on one host, and so by which link a pair talks. The same on every rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hcomm {

enum class LinkKind : std::uint8_t { shm, tcp };  // what a channel leads over

struct RankLayout {
  std::vector<int> host_of;  // [rank]: hosts are numbered as they come, from 0; empty: all ranks are on one

  int host(int rank) const { return host_of.empty() ? 0 : host_of[static_cast<std::size_t>(rank)]; }
  int hosts() const;
  LinkKind channel(int one, int other) const { return host(one) == host(other) ? LinkKind::shm : LinkKind::tcp; }
};

// "2x3": three ranks on each of two hosts; "3+1": three ranks on one host, one on another. Ranks fill host after host.
// InvalidArgument if it is neither, or not for so many ranks.
Result<RankLayout> parse_layout(std::string_view text, int ranks);

// So many hosts as evenly filled as can be, the first ones with one rank more. InvalidArgument for more hosts than ranks.
Result<RankLayout> even_layout(int hosts, int ranks);

std::string to_text(const RankLayout& layout, int ranks);  // how many ranks are on each host: "3+1"

}  // namespace hcomm
