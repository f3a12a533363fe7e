#include "net/interfaces.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "net/kernel_network.h"
#include "net/rig.h"

namespace hcomm {
namespace {

Address number(const std::string& text) {
  Address address = parse_address(text.find(':') == std::string::npos ? text + ":0" : "[" + text + "]:0").value();
  return address;
}

Interface interface(const std::string& name, std::vector<std::string> addresses, bool up = true) {
  Interface made{name, up, {}};
  for (const std::string& address : addresses) made.addresses.push_back(number(address));
  return made;
}

std::string chosen(const std::vector<Interface>& interfaces, const InterfaceWish& wish = {}) {
  const Result<std::vector<Address>> addresses = choose_addresses(interfaces, wish);
  if (!addresses.ok()) return std::string(addresses.status().trail());
  std::string all;
  for (const Address& address : addresses.value()) all += (all.empty() ? "" : " ") + number_text(address);
  return all;
}

const std::vector<Interface> kHost = {
    interface("lo", {"127.0.0.1", "::1"}), interface("docker0", {"172.17.0.1"}),    interface("virbr0", {"192.168.122.1"}),
    interface("eth0", {"10.0.0.1", "fd00::1"}), interface("eth1", {"10.1.0.1"}, false), interface("eth2", {}),
};

}  // namespace

TEST_CASE("B052 bridges that all hosts have come last, in whatever order the system lists them") {
  CHECK(chosen(kHost) == "10.0.0.1 fd00::1 172.17.0.1 192.168.122.1 127.0.0.1 ::1");
  std::vector<Interface> reversed = kHost;
  std::ranges::reverse(reversed);
  CHECK(chosen(reversed) == "10.0.0.1 fd00::1 192.168.122.1 172.17.0.1 127.0.0.1 ::1");
  // A service address on lo comes before 127.0.0.1.
  CHECK(chosen({interface("lo", {"127.0.0.1", "203.0.113.7"})}, {.names = "lo"}) == "203.0.113.7 127.0.0.1");
}

TEST_CASE("B053 each value of HCOMM_SOCKET_IFNAME does what the table says, and a wrong one lists what there is") {
  const auto with = [](const std::string& names) { return chosen(kHost, {.names = names}); };
  const std::string list =
      "there are: lo (127.0.0.1, ::1), docker0 (172.17.0.1), virbr0 (192.168.122.1), eth0 (10.0.0.1, fd00::1), eth1 (down), "
      "eth2 (no address)";
  CHECK(with("") == chosen(kHost));
  CHECK(with("^lo") == "10.0.0.1 fd00::1 172.17.0.1 192.168.122.1");
  CHECK(with("=lo") == "127.0.0.1 ::1");
  CHECK(with("lo,eth0") == "10.0.0.1 fd00::1 127.0.0.1 ::1");
  CHECK(with("^docker,virbr,lo") == "10.0.0.1 fd00::1");
  for (const std::string names : {"eth99", "ET0", "eth1", "=eth2", "=eth", "^=lo,docker0,virbr0,eth0"}) {
    INFO(names);
    CHECK_THAT(with(names), Catch::Contains("HCOMM_SOCKET_IFNAME=" + names + " leaves no interface") && Catch::Contains(list));
  }
  for (const std::string names : {" ", "lo,", "^"}) CHECK_THAT(with(names), Catch::Contains("reading HCOMM_SOCKET_IFNAME"));
  CHECK(choose_addresses(kHost, {.names = "eth99"}).status().code() == hcommInvalidArgument);
}

TEST_CASE("B055 link-local addresses come after global ones, and those of IPv6 are left out with their names") {
  CHECK(chosen({interface("eth0", {"169.254.3.1"}), interface("eth1", {"10.0.0.1"})}) == "10.0.0.1 169.254.3.1");
  CHECK(chosen({interface("eth0", {"fe80::1%lo"}), interface("eth1", {"10.0.0.1"})}) == "10.0.0.1");
  CHECK_THAT(chosen({interface("eth0", {"fe80::1%lo"})}),
             Catch::Contains("no interface has an address that could be used; there are: eth0 (fe80::1%lo)"));
}

TEST_CASE("B056 a host gives the addresses of all its families, or of the one that is wanted") {
  CHECK(chosen(kHost, {.names = "eth0", .family = SocketFamily::inet}) == "10.0.0.1");
  CHECK(chosen(kHost, {.names = "eth0", .family = SocketFamily::inet6}) == "fd00::1");
  CHECK(chosen({interface("lo", {"127.0.0.1"})}) == "127.0.0.1");
  CHECK_THAT(chosen(kHost, {.names = "docker", .family = SocketFamily::inet6}),
             Catch::Contains("HCOMM_SOCKET_IFNAME=docker with HCOMM_SOCKET_FAMILY=inet6 leaves no interface"));
  CHECK_THAT(chosen({}), Catch::Contains("no interface has an address that could be used; there are: none"));
  CHECK(choose_addresses({}, {}).status().code() == hcommSystemError);
}

TEST_CASE("this host's interfaces are read, each once") {
  const Result<std::vector<Interface>> interfaces = read_interfaces();
  REQUIRE(interfaces.ok());
  const auto loopback = std::ranges::find(interfaces.value(), "lo", &Interface::name);
  REQUIRE(loopback != interfaces.value().end());
  CHECK(loopback->up);
  CHECK(std::ranges::count(loopback->addresses, number("127.0.0.1")) == 1);
  CHECK(std::ranges::count(interfaces.value(), "lo", &Interface::name) == 1);
}

TEST_CASE("B058 the first free port of a range is taken; a range without one is named") {
  const auto network = KernelNetwork::open().value();
  CountingWatcher watcher;
  // Three ports beside each other that are free now; another process may take one, so several places are tried.
  std::vector<std::unique_ptr<Listener>> taken;
  PortRange range;
  for (std::uint16_t first = 20'000; first < 30'000 && taken.empty(); first = static_cast<std::uint16_t>(first + 100)) {
    range = {first, static_cast<std::uint16_t>(first + 2)};
    for (int i = 0; i < 3; ++i) {
      Result<std::unique_ptr<Listener>> listener = listen_in_range(*network, loopback_address(), range, watcher);
      if (listener.ok()) taken.push_back(std::move(listener).value());
    }
    if (taken.size() < 3) taken.clear();
  }
  REQUIRE(taken.size() == 3);
  for (std::uint16_t i = 0; i < 3; ++i) CHECK(taken[i]->address().port == range.first + i);
  const auto full = listen_in_range(*network, loopback_address(), range, watcher);
  REQUIRE_FALSE(full.ok());
  CHECK_THAT(std::string(full.status().trail()), Catch::Contains("no port of HCOMM_PORT_RANGE=" + text(range)) &&
                                                     Catch::Contains("set a wider range, or auto"));
  CHECK(listen_in_range(*network, loopback_address(), PortRange{}, watcher).value()->address().port != 0);
}

}  // namespace hcomm
