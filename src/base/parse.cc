#include "base/parse.h"

#include <algorithm>
#include <array>
#include <limits>

namespace hcomm {
namespace {

constexpr std::size_t kMaxNameLength = 64;  // longer ones are near to nothing

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

std::string_view take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

// False when the number does not fit.
bool to_number(std::string_view digits, std::uint64_t& number) {
  number = 0;
  for (const char digit : digits) {
    if (__builtin_mul_overflow(number, std::uint64_t{10}, &number)) return false;
    if (__builtin_add_overflow(number, static_cast<std::uint64_t>(digit - '0'), &number)) return false;
  }
  return true;
}

// 0 when it is none.
std::int64_t duration_unit(std::string_view unit) {
  if (unit.empty() || unit == "s") return kSecond;
  if (unit == "ms") return kMillisecond;
  if (unit == "us") return kMicrosecond;
  return 0;
}

// The part after the point, in nanoseconds, rounded up. The scale shrinks by ten with each digit; what is below a
// nanosecond only matters for whether there is anything.
std::int64_t fraction_ns(std::string_view digits, std::int64_t unit_ns) {
  std::int64_t sum = 0;
  bool rest = false;
  std::int64_t scale = unit_ns;
  for (const char digit : digits) {
    const std::int64_t value = digit - '0';
    if (scale % 10 != 0) {  // the units are powers of ten, so scale is 1 here
      rest = rest || value != 0;
      continue;
    }
    scale /= 10;
    sum += value * scale;
  }
  return sum + (rest ? 1 : 0);
}

Status not_a_duration() {
  return Status::failure(hcommInvalidArgument,
                         "legal is a number of seconds, or one with the unit s, ms or us, such as 30, 1.5s, 500ms; 0 is never");
}

Status not_a_size() {
  return Status::failure(hcommInvalidArgument, "legal is a number of bytes, or one with K, M or G, such as 8, 4K, 64M");
}

int size_shift(char unit) {
  switch (lower(unit)) {
    case 'k': return 10;
    case 'm': return 20;
    case 'g': return 30;
  }
  return 0;
}

bool begins_with(std::string_view word, std::string_view start) {
  return word.size() >= start.size() && same_word(word.substr(0, start.size()), start);
}

// The fewest single typing errors between two words, by the usual table of prefixes; three of its rows are enough, the
// third for swapped neighbours.
std::size_t typing_errors(std::string_view from, std::string_view to) {
  std::array<std::array<std::size_t, kMaxNameLength + 1>, 3> rows{};
  for (std::size_t column = 0; column <= to.size(); ++column) rows[0][column] = column;
  for (std::size_t row = 1; row <= from.size(); ++row) {
    auto& here = rows[row % 3];
    const auto& above = rows[(row - 1) % 3];
    const auto& second_above = rows[(row + 1) % 3];
    here[0] = row;
    for (std::size_t column = 1; column <= to.size(); ++column) {
      const char left = lower(from[row - 1]);
      const char right = lower(to[column - 1]);
      here[column] = std::min({above[column] + 1, here[column - 1] + 1, above[column - 1] + (left == right ? 0u : 1u)});
      const bool swapped = row > 1 && column > 1 && left == lower(to[column - 2]) && lower(from[row - 2]) == right;
      if (swapped) here[column] = std::min(here[column], second_above[column - 2] + 1);
    }
  }
  return rows[from.size() % 3][to.size()];
}

}  // namespace

Result<TimeNs> parse_duration(std::string_view text) {
  const std::string_view whole_digits = take_digits(text);
  if (whole_digits.empty()) return not_a_duration();
  std::string_view fraction_digits;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction_digits = take_digits(text);
    if (fraction_digits.empty()) return not_a_duration();
  }
  const std::int64_t unit_ns = duration_unit(text);
  if (unit_ns == 0) return not_a_duration();

  std::uint64_t whole = 0;
  constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<TimeNs>::max());
  if (!to_number(whole_digits, whole) || whole > kLongest / static_cast<std::uint64_t>(unit_ns)) return kNever;
  const TimeNs duration =
      add_saturated(static_cast<TimeNs>(whole) * unit_ns, fraction_ns(fraction_digits, unit_ns));
  return duration == 0 ? kNever : duration;
}

Result<std::size_t> parse_size(std::string_view text) {
  const std::string_view digits = take_digits(text);
  std::uint64_t number = 0;
  if (digits.empty() || text.size() > 1) return not_a_size();
  const int shift = text.empty() ? 0 : size_shift(text.front());
  if (!text.empty() && shift == 0) return not_a_size();
  std::size_t bytes = 0;
  if (!to_number(digits, number) || __builtin_mul_overflow(number, std::uint64_t{1} << shift, &bytes)) {
    return Status::failure(hcommInvalidArgument, "it is more bytes than 64 bits can count");
  }
  return bytes;
}

Result<std::uint64_t> parse_count(std::string_view text) {
  const std::string_view digits = take_digits(text);
  std::uint64_t number = 0;
  if (digits.empty() || !text.empty() || !to_number(digits, number)) {
    return Status::failure(hcommInvalidArgument, "legal is a whole number in decimal digits");
  }
  return number;
}

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known) {
  if (given.empty() || given.size() > kMaxNameLength) return {};
  std::string_view nearest;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::string_view name : known) {
    if (name.size() > kMaxNameLength) continue;
    const std::size_t errors = typing_errors(given, name);
    const std::size_t bearable = std::max<std::size_t>(1, std::max(given.size(), name.size()) / 3);
    const bool near = errors <= bearable || (given.size() >= 3 && begins_with(name, given));
    if (near && errors < fewest) {
      nearest = name;
      fewest = errors;
    }
  }
  return nearest;
}

bool same_word(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace hcomm
