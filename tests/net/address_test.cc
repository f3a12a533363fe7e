#include "net/address.h"

#include <catch2/catch.hpp>

#include <net/if.h>

#include <algorithm>

#include "net/sockets.h"

namespace hcomm {
namespace {

std::string fault_of(const Result<Address>& parsed) { return parsed.ok() ? "" : std::string(parsed.status().trail()); }

}  // namespace

TEST_CASE("addresses are printed as they were read") {
  for (const std::string written : {"10.0.0.1:60000", "0.0.0.0:0", "255.255.255.255:65535", "[::]:0", "[::1]:29500",
                                     "[fd00::17]:1", "[2001:db8::ff00:42:8329]:443"}) {
    INFO(written);
    const Result<Address> parsed = parse_address(written);
    REQUIRE(parsed.ok());
    CHECK(text(parsed.value()) == written);
  }
  CHECK(text(Address{}) == "no address");
}

TEST_CASE("B055 a link-local address has the interface that it is of, or is refused") {
  const std::string loopback_name = "lo";
  REQUIRE(if_nametoindex(loopback_name.c_str()) != 0);
  const Result<Address> named = parse_address("[fe80::1%lo]:7");
  REQUIRE(named.ok());
  CHECK(named.value().scope == if_nametoindex(loopback_name.c_str()));
  CHECK(text(named.value()) == "[fe80::1%lo]:7");
  CHECK(parse_address("[fe80::1%" + std::to_string(named.value().scope) + "]:7").value() == named.value());
  CHECK(is_link_local(named.value()));
  CHECK(is_link_local(parse_address("169.254.3.1:1").value()));
  CHECK_FALSE(is_link_local(parse_address("10.0.0.1:1").value()));
  CHECK_FALSE(is_link_local(parse_address("[fec0::1]:1").value()));

  CHECK_THAT(fault_of(parse_address("[fe80::1]:7")), Catch::Contains("a link-local one needs its interface"));
  CHECK_THAT(fault_of(parse_address("[fe80::1%eth99]:7")), Catch::Contains("there is no interface of that name here"));
  CHECK_THAT(fault_of(parse_address("[fe80::1%0]:7")), Catch::Contains("there is no interface of that name here"));
  CHECK_THAT(fault_of(parse_address("[fd00::1%lo]:7")), Catch::Contains("only a link-local one has an interface"));
}

TEST_CASE("what is no address is refused with what is legal") {
  const std::string long_text(10'000, '1');
  for (const std::string& written :
       {std::string(), std::string(":"), std::string("10.0.0.1"), std::string("10.0.0.1:"), std::string("10.0.0.1:65536"),
        std::string("10.0.0.1:99999999999999999999"), std::string("10.0.0.1:-1"), std::string("10.0.0.1:000001"),
        std::string("10.0.0.1: 1"), std::string("10.0.0:1"), std::string("10.0.0.256:1"), std::string("010.0.0.1:1"),
        std::string("node7:1"), std::string("::1:1"), std::string("[::1]"), std::string("[::1]1"), std::string("[::1:1"),
        std::string("::1]:1"), std::string("[]:1"), std::string("[10.0.0.1]:1"), std::string("[::g]:1"),
        std::string("10.0.0.1\0:1", 11), long_text, long_text + ":1"}) {
    INFO(written.substr(0, 80));
    const Result<Address> parsed = parse_address(written);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().code() == hcommInvalidArgument);
    CHECK_THAT(fault_of(parsed), Catch::Contains("legal is a number and a port, such as 10.0.0.1:60000"));
    CHECK(parsed.status().trail().size() < 400);
  }
}

TEST_CASE("numbers resolve to themselves, names to their addresses with the port") {
  for (const std::string written : {"127.0.0.1:29500", "[::1]:29500"}) {
    const Result<std::vector<Address>> found = resolve(written);
    REQUIRE(found.ok());
    REQUIRE(found.value().size() == 1);
    CHECK(found.value().front() == parse_address(written).value());
  }
  const Result<std::vector<Address>> local = resolve("localhost:7");
  REQUIRE(local.ok());
  REQUIRE_FALSE(local.value().empty());
  for (const Address& address : local.value()) CHECK(address.port == 7);
}

TEST_CASE("what does not resolve says so") {
  const Result<std::vector<Address>> unknown = resolve("no..host:7");
  REQUIRE_FALSE(unknown.ok());
  CHECK_THAT(std::string(unknown.status().trail()), Catch::Contains("no address of 'no..host:7' could be found"));
  for (const std::string written : {"node7", "node7:", ":29500", "node7:port", "::1:29500", "node7:65536"}) {
    INFO(written);
    const Result<std::vector<Address>> found = resolve(written);
    REQUIRE_FALSE(found.ok());
    CHECK(found.status().code() == hcommInvalidArgument);
    CHECK_THAT(std::string(found.status().trail()), Catch::Contains("legal is such as node7:29500"));
  }
}

TEST_CASE("addresses keep their meaning on the wire, but for the interface") {
  for (const std::string written : {"10.0.0.1:60000", "[fd00::17]:1", "[fe80::1%1]:513"}) {
    Address address = parse_address(written).value();
    const auto bytes = to_bytes(address);
    const Result<Address> read = address_from_bytes(bytes);
    REQUIRE(read.ok());
    address.scope = 0;
    CHECK(read.value() == address);
  }
  CHECK(address_from_bytes(to_bytes(Address{})).value() == Address{});
  CHECK(to_bytes(parse_address("1.2.3.4:513").value())[2] == std::byte{1});  // little endian
}

TEST_CASE("each address has one form on the wire; all others are refused") {
  const Address inet = parse_address("10.0.0.1:60000").value();
  for (const Address& address : {inet, parse_address("[fd00::17]:1").value(), Address{}}) {
    const auto bytes = to_bytes(address);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (unsigned value = 0; value < 256; ++value) {
        auto changed = bytes;
        changed[at] = static_cast<std::byte>(value);
        const Result<Address> read = address_from_bytes(changed);
        if (read.ok()) CHECK(to_bytes(read.value()) == changed);
      }
    }
    CHECK_FALSE(address_from_bytes(ConstBytes(bytes).first(23)).ok());
  }
  auto of_no_family = to_bytes(inet);
  of_no_family[0] = std::byte{5};
  CHECK(address_from_bytes(of_no_family).status().code() == hcommRemoteError);
  auto with_a_tail = to_bytes(inet);
  with_a_tail[23] = std::byte{1};
  CHECK_FALSE(address_from_bytes(with_a_tail).ok());
}

TEST_CASE("addresses in the system's form keep everything") {
  for (const std::string written : {"10.0.0.1:60000", "[fd00::17]:1", "[fe80::1%1]:513"}) {
    const Address address = parse_address(written).value();
    const SystemAddress system = to_system(address);
    CHECK(address_of(system.get()) == address);
  }
}

}  // namespace hcomm
