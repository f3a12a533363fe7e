#include "topology/host_identity.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "base/child.h"
#include "base/temp_folder.h"

namespace hcomm {

TEST_CASE("a process and its child have the same identity, in one line without spaces") {
  const std::string own = host_identity();
  CHECK(own.find_first_of(" \n") == std::string::npos);
  CHECK(testing::exit_code_of([&] { return host_identity() == own ? 0 : 1; }) == 0);
}

TEST_CASE("another boot, network or user is another host; what else containers have of their own is not") {
  const TempFolder folder;
  std::ofstream(folder.file("one")) << "11111111-2222\n";
  std::ofstream(folder.file("two")) << "33333333-4444\n";
  const auto identity = [&](const std::string& boot, const std::string& spaces) {
    return host_identity({.boot_id = folder.file(boot), .namespaces = folder.file(spaces)});
  };
  for (const std::string spaces : {"a", "b", "ab"}) {
    std::filesystem::create_directory(folder.file(spaces));
    for (const std::string space : {"ipc", "mnt", "net", "pid", "user"}) {
      const std::string file = folder.file(spaces + "/" + space);
      if (spaces == "ab" && (space == "net" || space == "user")) {
        std::filesystem::create_hard_link(folder.file("a/" + space), file);
      } else {
        std::ofstream(file) << "x";
      }
    }
  }
  CHECK(identity("one", "a") == identity("one", "a"));
  CHECK(identity("one", "a") != identity("two", "a"));
  CHECK(identity("one", "a") != identity("one", "b"));
  CHECK(identity("one", "a") == identity("one", "ab"));
  CHECK(identity("one", "a").starts_with("boot:11111111-2222;net:"));
  CHECK(identity("one", "a").ends_with(";uid:" + std::to_string(geteuid())));
  CHECK(machine_identity({.boot_id = folder.file("one"), .namespaces = folder.file("a")}) == "boot:11111111-2222");
}

TEST_CASE("what is hidden is named, not refused") {
  const std::string identity = host_identity({.boot_id = "/nonexistent/boot", .namespaces = "/nonexistent/ns"});
  CHECK(identity.starts_with("boot:"));
  CHECK(identity.find(";net:unknown;user:unknown;uid:") != std::string::npos);
}

}  // namespace hcomm
