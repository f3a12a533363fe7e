// Layouts: what people may write, and which link a pair has.
#include "plan/layout.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

std::vector<int> hosts_of(std::string_view text, int ranks) {
  const Result<RankLayout> layout = parse_layout(text, ranks);
  INFO(text << ": " << layout.status().trail());
  REQUIRE(layout.ok());
  CHECK(to_text(layout.value(), ranks) == (text.find('x') == std::string_view::npos ? text : to_text(layout.value(), ranks)));
  return layout.value().host_of;
}

}  // namespace

TEST_CASE("hosts times ranks, or the ranks of each host") {
  CHECK(hosts_of("2x2", 4) == std::vector{0, 0, 1, 1});
  CHECK(hosts_of("3x1", 3) == std::vector{0, 1, 2});
  CHECK(hosts_of("3+1", 4) == std::vector{0, 0, 0, 1});
  CHECK(hosts_of("1+2+1", 4) == std::vector{0, 1, 1, 2});
  CHECK(hosts_of("4", 4) == std::vector{0, 0, 0, 0});
}

TEST_CASE("what is no layout is refused, with the legal forms") {
  for (const std::string_view bad : {"", "x", "2x", "x2", "2x2x1", "2x3", "0x4", "4+", "+4", "3+2", "1+1", "-1+5", "2*2",
                                     "99999999999999999999x1", "4096x4096"}) {
    const Result<RankLayout> layout = parse_layout(bad, 4);
    INFO(bad);
    REQUIRE_FALSE(layout.ok());
    CHECK(layout.status().code() == hcommInvalidArgument);
    CHECK(layout.status().trail().find("2x2") != std::string_view::npos);
    CHECK(layout.status().trail().find("\"" + std::string(bad) + "\"") != std::string_view::npos);
  }
}

TEST_CASE("even layouts give the first hosts a rank more") {
  CHECK(to_text(even_layout(1, 4).value(), 4) == "4");
  CHECK(to_text(even_layout(3, 8).value(), 8) == "3+3+2");
  CHECK(to_text(even_layout(4, 4).value(), 4) == "1+1+1+1");
  CHECK_FALSE(even_layout(5, 4).ok());
  CHECK_FALSE(even_layout(0, 4).ok());
}

TEST_CASE("a pair on one host talks through shared memory, others through TCP") {
  const RankLayout one;
  CHECK(one.hosts() == 1);
  CHECK(one.channel(0, 3) == LinkKind::shm);
  CHECK(to_text(one, 4) == "4");
  const RankLayout two = parse_layout("2x2", 4).value();
  CHECK(two.hosts() == 2);
  CHECK(two.channel(0, 1) == LinkKind::shm);
  CHECK(two.channel(1, 2) == LinkKind::tcp);
  CHECK(two.channel(3, 0) == LinkKind::tcp);
}

}  // namespace hcomm
