#include "base/parse_network.h"

#include <algorithm>

#include "base/parse.h"

namespace hcomm {
namespace {

constexpr std::size_t kMaxNameBytes = 15;  // of an interface of Linux
constexpr std::uint64_t kLastPort = 65535;

bool is_name(std::string_view name) {
  const auto fits = [](char letter) {
    const bool is_word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    return is_word || std::string_view("._-:@").find(letter) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, fits);
}

// 0 when it is none.
std::uint16_t port_in(std::string_view text) {
  const Result<std::uint64_t> number = parse_count(text);
  return number.ok() && number.value() <= kLastPort ? static_cast<std::uint16_t>(number.value()) : std::uint16_t{0};
}

}  // namespace

bool NameFilter::wants(std::string_view name) const {
  if (names.empty()) return true;
  const auto fits = [&](const std::string& one) { return exact ? name == one : name.starts_with(one); };
  const bool named = std::ranges::any_of(names, fits);
  return named != without;
}

Result<NameFilter> parse_name_filter(std::string_view text) {
  NameFilter filter;
  filter.without = text.starts_with('^');
  if (filter.without) text.remove_prefix(1);
  filter.exact = text.starts_with('=');
  if (filter.exact) text.remove_prefix(1);
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    if (!is_name(name)) {
      return Status::failure(hcommInvalidArgument, "legal are beginnings of names with commas, such as eth,enp; "
                                                   "after = whole names; after ^ those not wanted");
    }
    filter.names.emplace_back(name);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return filter;
}

Result<PortRange> parse_port_range(std::string_view text) {
  if (same_word(text, "auto")) return PortRange{};
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const PortRange range{port_in(text.substr(0, dash)), port_in(text.substr(dash + 1))};
    if (range.first != 0 && range.first <= range.last) return range;
  }
  return Status::failure(hcommInvalidArgument, "legal is auto, or two ports from 1 to 65535, such as 60000-60100");
}

std::string text(const PortRange& range) {
  return range.automatic() ? "auto" : std::to_string(range.first) + "-" + std::to_string(range.last);
}

}  // namespace hcomm
