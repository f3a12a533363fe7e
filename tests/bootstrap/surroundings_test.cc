#include "bootstrap/surroundings.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/temp_folder.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("a line of the kernel's about a process is read, whatever its name") {
  const std::string rest = " S 7 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 98765 1000 10 0";
  int parent = 0;
  CHECK(parse_process("12 (mpirun)" + rest, parent) == Ancestor{12, 98765, "mpirun"});
  CHECK(parent == 7);
  CHECK(parse_process("12 (a) (b c)" + rest, parent) == Ancestor{12, 98765, "a) (b c"});
  for (const std::string& line :
       {std::string(), std::string("12"), std::string("12 (a"), std::string("(a) S 1"), "x (a)" + rest,
        std::string("12 (a) S 7 1 1"), std::string("12 (a) S x 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 9")}) {
    INFO(line);
    CHECK_FALSE(parse_process(line, parent).has_value());
  }
}

TEST_CASE("own surroundings are true") {
  const Surroundings own = own_surroundings();
  REQUIRE_FALSE(own.ancestors.empty());
  CHECK(own.ancestors.front().pid == getppid());
  CHECK(own.ancestors.size() <= kMaxAncestors);
  CHECK(own.user == geteuid());
  CHECK(own.variable("PATH") == std::string(std::getenv("PATH")));
  CHECK_FALSE(own.variable("HCOMM_TEST_OF_NO_VARIABLE").has_value());
}

TEST_CASE("a launcher's file is read whole, or refused with its name") {
  const TempFolder folder;
  const std::string path = folder.file("table.json");
  std::ofstream(path) << std::string(40000, 'x') << "end";
  CHECK(read_launch_file(path).value() == std::string(40000, 'x') + "end");
  CHECK_THAT(std::string(read_launch_file(path + ".no").status().trail()), Contains("table.json.no"));
  CHECK_THAT(std::string(read_launch_file("/dev/null").status().trail()), Contains("no regular file"));
  REQUIRE(truncate(path.c_str(), static_cast<off_t>(kMaxLaunchFileBytes + 1)) == 0);
  CHECK_THAT(std::string(read_launch_file(path).status().trail()), Contains("more than 16777216 bytes"));
}

}  // namespace
}  // namespace hcomm
