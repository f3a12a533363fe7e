// Goal: text from people is read strictly, and never as something they did not write.
// Method: tables of what is legal and what is not, each with its one right answer.
#include "base/parse.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace hcomm {
namespace {

constexpr std::uint64_t kKibi = 1024;

TEST_CASE("durations that are legal") {
  struct Row {
    std::string_view text;
    TimeNs expected;
  };
  const Row rows[] = {
      {"30", 30 * kSecond},
      {"1", kSecond},
      {"10s", 10 * kSecond},
      {"0.5", 500 * kMillisecond},
      {"1.5s", 1500 * kMillisecond},
      {"500ms", 500 * kMillisecond},
      {"250us", 250 * kMicrosecond},
      {"0.25ms", 250 * kMicrosecond},
      {"007", 7 * kSecond},
      {"1836s", 1836 * kSecond},
      {"9223372036", 9223372036 * kSecond},
      // Below a nanosecond is rounded up: a short timeout is not the endless one.
      {"0.0000000001", 1},
      {"0.0001us", 1},
      {"0.00025us", 1},
      {"1.0000000001", kSecond + 1},
      {"1.0000000000", kSecond},
      // Never.
      {"0", kNever},
      {"0s", kNever},
      {"0ms", kNever},
      {"0.000", kNever},
      // More than the clock can count is never, and not some moment in the past.
      {"9223372037", kNever},
      {"9223372036.9", kNever},
      {"9223372036854775807", kNever},
      {"18446744073709551616", kNever},
      {"99999999999999999999", kNever},
      {"99999999999999999999us", kNever},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const Result<TimeNs> parsed = parse_duration(row.text);
    REQUIRE(parsed.ok());
    CHECK(parsed.value() == row.expected);
  }
}

TEST_CASE("durations that are not legal") {
  for (const std::string_view text :
       {"", " ", "-1", "+1", "abc", " 5 ", "5 ", " 5", "5x", "5 s", "nan", "inf", "infinity", "0x10", "1e3", "1e9", ".5", "5.",
        "5.s", "1.2.3", "1,5", "s", "ms", "5m", "5h", "5sec", "5S", "5MS", "--5", "5\n", "never"}) {
    INFO("'" << text << "'");
    const Result<TimeNs> parsed = parse_duration(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().code() == hcommInvalidArgument);
    CHECK(parsed.status().trail().find("0 is never") != std::string_view::npos);
  }
}

TEST_CASE("sizes that are legal") {
  struct Row {
    std::string_view text;
    std::size_t expected;
  };
  const Row rows[] = {
      {"0", 0},
      {"8", 8},
      {"4K", 4 * kKibi},
      {"4k", 4 * kKibi},
      {"64M", 64 * kKibi * kKibi},
      {"1G", kKibi * kKibi * kKibi},
      {"1g", kKibi * kKibi * kKibi},
      {"18446744073709551615", SIZE_MAX},
      {"17179869183G", 17179869183u * kKibi * kKibi * kKibi},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const Result<std::size_t> parsed = parse_size(row.text);
    REQUIRE(parsed.ok());
    CHECK(parsed.value() == row.expected);
  }
}

TEST_CASE("sizes that are not legal") {
  for (const std::string_view text :
       {"", "K", "-1", "+8", " 8", "8 ", "8KB", "8KiB", "4T", "8B", "1.5M", "0x10", "1e3", "abc", "nan", "18446744073709551616",
        "17179869184G", "18014398509481984K"}) {
    INFO("'" << text << "'");
    const Result<std::size_t> parsed = parse_size(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().code() == hcommInvalidArgument);
  }
}

TEST_CASE("counts are decimal digits that fit") {
  CHECK(parse_count("0").value() == 0);
  CHECK(parse_count("42").value() == 42);
  CHECK(parse_count("18446744073709551615").value() == UINT64_MAX);
  for (const std::string_view text : {"", "-1", " 1", "1 ", "1K", "0x1", "1.0", "18446744073709551616"}) {
    INFO("'" << text << "'");
    CHECK_FALSE(parse_count(text).ok());
  }
}

TEST_CASE("the nearest name is few typing errors away, or none") {
  constexpr std::array<std::string_view, 5> algorithms = {"flat", "direct", "ring", "recursive_doubling", "adaptive"};
  struct Row {
    std::string_view given;
    std::string_view nearest;
  };
  const Row rows[] = {
      {"rign", "ring"},      {"rng", "ring"},   {"RING", "ring"}, {"rings", "ring"},
      {"dirct", "direct"},   {"falt", "flat"},  {"adaptve", "adaptive"},
      {"recursive_dubling", "recursive_doubling"},
      {"recursive", "recursive_doubling"},  // its beginning
      {"tree", ""},          {"foo", ""},       {"", ""},         {"x", ""},
  };
  for (const Row& row : rows) {
    INFO(row.given);
    CHECK(nearest_name(row.given, algorithms) == row.nearest);
  }
  constexpr std::array<std::string_view, 2> collectives = {"allgather", "allreduce"};
  CHECK(nearest_name("allredcue", collectives) == "allreduce");
  CHECK(nearest_name(std::string(100000, 'a'), collectives).empty());
  CHECK(nearest_name("ring", {}).empty());
}

TEST_CASE("words are the same whatever the case of their letters") {
  CHECK(same_word("INFO", "info"));
  CHECK(same_word("", ""));
  CHECK_FALSE(same_word("info", "inf"));
  CHECK_FALSE(same_word("[", "{"));  // apart by the bit that parts the cases of letters
}

}  // namespace
}  // namespace hcomm
