// hwloc's view: machines that are one line of text, and the real one.
#include "topology/machine.h"

#include <catch2/catch.hpp>

namespace hcomm {

TEST_CASE("a synthetic machine has what its text says") {
  const Result<Machine> machine = read_machine("pack:2 numa:2 core:4 pu:2");
  REQUIRE(machine.ok());
  CHECK(machine.value() == Machine{.packages = 2, .numa_nodes = 4, .cores = 16, .processors = 32});
}

TEST_CASE("what a small virtual machine does not tell is one") {
  const Result<Machine> machine = read_machine("pu:3");
  REQUIRE(machine.ok());
  CHECK(machine.value() == Machine{.packages = 1, .numa_nodes = 1, .cores = 1, .processors = 3});
}

TEST_CASE("a text that hwloc does not understand is the caller's mistake") {
  const Result<Machine> machine = read_machine("wheel:4");
  REQUIRE_FALSE(machine.ok());
  CHECK(machine.status().code() == hcommInvalidArgument);
  CHECK(machine.status().trail().find("wheel:4") != std::string_view::npos);
}

TEST_CASE("this machine has at least one of each") {
  const Result<Machine> machine = read_machine();
  REQUIRE(machine.ok());
  CHECK(machine.value().packages >= 1);
  CHECK(machine.value().numa_nodes >= 1);
  CHECK(machine.value().cores >= 1);
  CHECK(machine.value().processors >= machine.value().cores);
}

}  // namespace hcomm
