// Text that people write, read strictly: no blanks, signs, exponents or rest. A failure (hcommInvalidArgument) says what is
// legal, and leaves it to the caller to name the variable or option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"

namespace hcomm {

// Seconds, or a number with a unit: 30, 1.5s, 500ms, 250us. Rounded up to a nanosecond. 0 in any unit is kNever, and so
// is whatever is longer than the clock can count (292 years): a huge timeout never fires early.
Result<TimeNs> parse_duration(std::string_view text);

// Bytes, with K, M or G (or k, m, g) for powers of 1024: 8, 4K, 64M, 1G.
Result<std::size_t> parse_size(std::string_view text);

// Decimal digits alone.
Result<std::uint64_t> parse_count(std::string_view text);

// The name in `known` nearest to `given`, for "did you mean": one that `given` begins, or one that few typing errors turn into
// it (a letter too many, too few, another, or two swapped; upper and lower case are alike). Empty when none is near.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known);

// Equal but for the case of ASCII letters.
bool same_word(std::string_view one, std::string_view other);

}  // namespace hcomm
