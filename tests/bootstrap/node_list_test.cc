#include "bootstrap/node_list.h"

#include <catch2/catch.hpp>

namespace hcomm {
namespace {

using Catch::Matchers::Contains;
using Hosts = std::vector<std::string>;

std::string refused(std::string_view text) {
  const Result<Hosts> hosts = expand_node_list(text);
  if (hosts.ok()) return "(accepted)";
  CHECK(hosts.status().code() == hcommInvalidArgument);
  return std::string(hosts.status().trail());
}

TEST_CASE("a list of hosts is expanded in its order") {
  CHECK(expand_node_list("vm").value() == Hosts{"vm"});
  CHECK(expand_node_list("node[01-03,07],gpu5").value() == Hosts{"node01", "node02", "node03", "node07", "gpu5"});
  CHECK(expand_node_list("a,b.example.org,c-1").value() == Hosts{"a", "b.example.org", "c-1"});
  CHECK(expand_node_list("n[9-11]").value() == Hosts{"n9", "n10", "n11"});
  CHECK(expand_node_list("n[008-10]").value() == Hosts{"n008", "n009", "n010"});
  CHECK(expand_node_list("n[1-2]-ib").value() == Hosts{"n1-ib", "n2-ib"});
  CHECK(expand_node_list("r[1-2]n[5,7]").value() == Hosts{"r1n5", "r1n7", "r2n5", "r2n7"});
  CHECK(expand_node_list("n[3-3]").value() == Hosts{"n3"});
  CHECK(expand_node_list("n[18446744073709551615]").value() == Hosts{"n18446744073709551615"});
}

TEST_CASE("as many hosts as a job has ranks at most") {
  CHECK(expand_node_list("n[1-4096]").value().size() == kMaxListedHosts);
  for (const std::string_view text :
       {"n[1-4097]", "n[0-18446744073709551615]", "n[1-65]x[1-64]", "n[1-4096],m", "n[1-4000,1-97]"}) {
    INFO(text);
    CHECK_THAT(refused(text), Contains("more than 4096 hosts"));
  }
}

TEST_CASE("what is no list of hosts is refused with the place") {
  CHECK_THAT(refused(""), Contains("an entry is empty"));
  CHECK_THAT(refused("a,"), Contains("an entry is empty"));
  CHECK_THAT(refused(",a"), Contains("an entry is empty"));
  CHECK_THAT(refused("a,,b"), Contains("an entry is empty"));
  CHECK_THAT(refused("n[1-3"), Contains("a bracket is not closed") && Contains("[1-3"));
  CHECK_THAT(refused("n]"), Contains("names of hosts have"));
  CHECK_THAT(refused("a b"), Contains("names of hosts have"));
  CHECK_THAT(refused("a\nb"), Contains("names of hosts have") && Contains("?b"));
  for (const std::string_view range : {"", "-", "1-", "-1", "3-1", "1-2-3", "1,,2", "x", "1-x", "+1", "99999999999999999999"}) {
    INFO(range);
    CHECK_THAT(refused("n[" + std::string(range) + "]"), Contains("in brackets there are numbers and ranges"));
  }
  CHECK_THAT(refused(std::string(kMaxHostNameBytes + 1, 'a')), Contains("too long"));
  CHECK_THAT(refused(std::string(kMaxNodeListBytes + 1, 'a')), Contains("more than 65536 bytes"));
}

}  // namespace
}  // namespace hcomm
