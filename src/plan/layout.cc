#include "plan/layout.h"

#include <algorithm>

#include "base/parse.h"
#include "schedule/problem.h"

namespace hcomm {
namespace {

Status refuse(std::string_view given, const std::string& why) {
  return Status::failure(hcommInvalidArgument, "layout \"" + std::string(given) + "\": " + why +
                                                   "; legal is hosts times ranks of each, as 2x2, or ranks of each host, as 3+1");
}

// A number of hosts or ranks that can be; 0 if it is none.
int number_of(std::string_view text) {
  const Result<std::uint64_t> parsed = parse_count(text);
  return parsed.ok() && parsed.value() <= kMaxRanks ? static_cast<int>(parsed.value()) : 0;
}

void add_host(RankLayout& layout, int ranks) {
  const int host = layout.host_of.empty() ? 0 : layout.host_of.back() + 1;
  layout.host_of.insert(layout.host_of.end(), static_cast<std::size_t>(ranks), host);
}

}  // namespace

int RankLayout::hosts() const { return host_of.empty() ? 1 : 1 + *std::ranges::max_element(host_of); }

Result<RankLayout> parse_layout(std::string_view text, int ranks) {
  RankLayout layout;
  if (const std::size_t times = text.find('x'); times != std::string_view::npos) {
    const int hosts = number_of(text.substr(0, times));
    const int each = number_of(text.substr(times + 1));
    if (hosts < 1 || each < 1) return refuse(text, "a number on each side of x is missing");
    if (std::int64_t{hosts} * each != ranks) return refuse(text, "there are " + std::to_string(ranks) + " ranks");
    for (int host = 0; host < hosts; ++host) add_host(layout, each);
    return layout;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const int each = number_of(text.substr(begin, end - begin));
    begin = end + 1;
    if (each < 1) return refuse(text, "a number between two + is missing");
    add_host(layout, each);
    if (layout.host_of.size() > static_cast<std::size_t>(ranks)) break;
  }
  if (layout.host_of.size() != static_cast<std::size_t>(ranks)) {
    return refuse(text, "there are " + std::to_string(ranks) + " ranks");
  }
  return layout;
}

Result<RankLayout> even_layout(int hosts, int ranks) {
  if (hosts < 1 || hosts > ranks) {
    return Status::failure(hcommInvalidArgument, std::to_string(hosts) + " hosts for " + std::to_string(ranks) +
                                                     " ranks: legal are 1 to " + std::to_string(ranks));
  }
  RankLayout layout;
  for (int host = 0; host < hosts; ++host) add_host(layout, ranks / hosts + (host < ranks % hosts ? 1 : 0));
  return layout;
}

std::string to_text(const RankLayout& layout, int ranks) {
  std::vector<int> counts(static_cast<std::size_t>(layout.hosts()));
  for (int rank = 0; rank < ranks; ++rank) ++counts[static_cast<std::size_t>(layout.host(rank))];
  std::string text;
  for (const int count : counts) text.append(text.empty() ? "" : "+").append(std::to_string(count));
  return text;
}

}  // namespace hcomm
