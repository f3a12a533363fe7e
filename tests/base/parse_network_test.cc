#include "base/parse_network.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

bool wants(const std::string& filter, std::string_view name) { return parse_name_filter(filter).value().wants(name); }

}  // namespace

TEST_CASE("names are wanted by their beginnings, whole, or by what they are not") {
  CHECK(wants("eth,enp", "eth0"));
  CHECK(wants("eth,enp", "enp3s0"));
  CHECK_FALSE(wants("eth,enp", "lo"));
  CHECK_FALSE(wants("eth", "veth0"));
  CHECK_FALSE(wants("ET", "eth0"));
  CHECK(wants("=eth0", "eth0"));
  CHECK_FALSE(wants("=eth0", "eth01"));
  CHECK(wants("=eth0,lo", "lo"));
  CHECK(wants("^docker", "eth0"));
  CHECK_FALSE(wants("^docker,lo", "docker0"));
  CHECK(wants("^=eth0", "eth01"));
  CHECK_FALSE(wants("^=eth0", "eth0"));
  CHECK(NameFilter{}.wants("anything"));
  CHECK(wants("eth0.100", "eth0.100"));
}

TEST_CASE("B053 what is no list of names is refused with what is legal") {
  for (const std::string filter : {"", " ", "lo,", ",lo", "lo,,eth0", "^", "=", "^=", "=^eth0", "^^eth0", "eth 0", " eth0",
                                   "eth0/1", "*"}) {
    INFO(filter);
    const Result<NameFilter> parsed = parse_name_filter(filter);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().code() == hcommInvalidArgument);
    CHECK_THAT(std::string(parsed.status().trail()), Catch::Contains("such as eth,enp"));
  }
  CHECK_FALSE(parse_name_filter(std::string(300, 'e')).ok());
  CHECK_FALSE(parse_name_filter(std::string("lo\0", 3)).ok());
}

TEST_CASE("ranges of ports") {
  CHECK(parse_port_range("60000-60100").value() == PortRange{60000, 60100});
  CHECK(parse_port_range("1-65535").value() == PortRange{1, 65535});
  CHECK(parse_port_range("7-7").value() == PortRange{7, 7});
  CHECK(parse_port_range("AUTO").value().automatic());
  CHECK(text(PortRange{60000, 60100}) == "60000-60100");
  CHECK(text(PortRange{}) == "auto");
  for (const std::string range : {"", "60000", "0-10", "10-9", "1-65536", "1-99999999999999999999", "-", "1-", "-1", "1-2-3",
                                  "a-b", " 1-2", "1 - 2", "automatic"}) {
    INFO(range);
    const Result<PortRange> parsed = parse_port_range(range);
    REQUIRE_FALSE(parsed.ok());
    CHECK_THAT(std::string(parsed.status().trail()), Catch::Contains("such as 60000-60100"));
  }
}

}  // namespace hcomm
