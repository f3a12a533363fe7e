#include "bootstrap/node_list.h"

#include <charconv>
#include <cstdint>

#include "bootstrap/message.h"

namespace hcomm {
namespace {

constexpr std::size_t kShown = 100;

Status wrong(std::string_view text, std::string_view why) {
  const std::string shown = printable(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
  return Status::failure(hcommInvalidArgument, "the list of hosts '" + shown + "' is not one: " + std::string(why));
}

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '-' || letter == '_' || letter == '.';
}

bool read_number(std::string_view digits, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

std::string padded(std::uint64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

// "01-03,07" as its numbers.
Status expand_ranges(std::string_view ranges, std::vector<std::string>& numbers) {
  while (true) {
    const std::string_view range = ranges.substr(0, ranges.find(','));
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string_view first_text = range.substr(0, dash);
    const std::string_view last_text = dash == range.size() ? first_text : range.substr(dash + 1);
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (!read_number(first_text, first) || !read_number(last_text, last) || last < first) {
      return wrong(range, "in brackets there are numbers and ranges such as 1-3,7");
    }
    if (last - first >= kMaxListedHosts || numbers.size() + (last - first) >= kMaxListedHosts) {
      return wrong(range, "more than " + std::to_string(kMaxListedHosts) + " hosts");
    }
    const std::uint64_t more = last - first;  // counted, because the last number may be the largest there is
    for (std::uint64_t place = 0; place <= more; ++place) numbers.push_back(padded(first + place, first_text.size()));
    if (range.size() == ranges.size()) return {};
    ranges.remove_prefix(range.size() + 1);
  }
}

// Each of the names so far with each of the endings.
Status extend(std::vector<std::string>& names, const std::vector<std::string>& endings) {
  if (names.size() * endings.size() > kMaxListedHosts) {
    return wrong(names.front(), "more than " + std::to_string(kMaxListedHosts) + " hosts");
  }
  std::vector<std::string> longer;
  for (const std::string& name : names) {
    for (const std::string& ending : endings) {
      if (name.size() + ending.size() > kMaxHostNameBytes) return wrong(name + ending, "a name of a host is too long");
      longer.push_back(name + ending);
    }
  }
  names = std::move(longer);
  return {};
}

// One entry, "node[01-03]-ib", taken from the front of the text.
Result<std::vector<std::string>> expand_entry(std::string_view& text) {
  std::vector<std::string> names = {""};
  while (!text.empty() && text.front() != ',') {
    std::vector<std::string> endings;
    if (text.front() == '[') {
      const std::size_t end = text.find(']');
      if (end == std::string_view::npos) return wrong(text, "a bracket is not closed");
      if (Status status = expand_ranges(text.substr(1, end - 1), endings); !status.ok()) return status;
      text.remove_prefix(end + 1);
    } else {
      std::size_t letters = 0;
      while (letters < text.size() && is_name_letter(text[letters])) ++letters;
      if (letters == 0) return wrong(text, "names of hosts have letters, digits, '-', '_' and '.'");
      endings.emplace_back(text.substr(0, letters));
      text.remove_prefix(letters);
    }
    if (Status status = extend(names, endings); !status.ok()) return status;
  }
  if (names.front().empty()) return wrong(text, "an entry is empty");
  return names;
}

}  // namespace

Result<std::vector<std::string>> expand_node_list(std::string_view text) {
  if (text.size() > kMaxNodeListBytes) return wrong(text, "it has more than " + std::to_string(kMaxNodeListBytes) + " bytes");
  std::vector<std::string> hosts;
  while (true) {
    Result<std::vector<std::string>> entry = expand_entry(text);
    if (!entry.ok()) return std::move(entry).status();
    if (hosts.size() + entry.value().size() > kMaxListedHosts) {
      return wrong(entry.value().front(), "more than " + std::to_string(kMaxListedHosts) + " hosts");
    }
    hosts.insert(hosts.end(), entry.value().begin(), entry.value().end());
    if (text.empty()) return hosts;
    text.remove_prefix(1);  // the comma; a list that ends with one has an empty entry
  }
}

}  // namespace hcomm
