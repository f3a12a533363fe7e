#include "topology/host_identity.h"

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

TEST_CASE("another boot and another namespace are another host") {
  const TempFolder folder;
  std::ofstream(folder.file("one")) << "11111111-2222\n";
  std::ofstream(folder.file("two")) << "33333333-4444\n";
  const auto identity = [&](const std::string& boot, const std::string& spaces) {
    return host_identity({.boot_id = folder.file(boot), .namespaces = folder.file(spaces)});
  };
  for (const std::string spaces : {"a", "b"}) {
    std::filesystem::create_directory(folder.file(spaces));
    for (const std::string space : {"ipc", "mnt", "net", "pid", "user"}) {
      std::ofstream(folder.file(spaces + "/" + space)) << "x";
    }
  }
  CHECK(identity("one", "a") == identity("one", "a"));
  CHECK(identity("one", "a") != identity("two", "a"));
  CHECK(identity("one", "a") != identity("one", "b"));
  CHECK(identity("one", "a").starts_with("boot:11111111-2222;ipc:"));
}

TEST_CASE("what is hidden is named, not refused") {
  const std::string identity = host_identity({.boot_id = "/nonexistent/boot", .namespaces = "/nonexistent/ns"});
  CHECK(identity.starts_with("boot:"));
  CHECK(identity.ends_with(";ipc:unknown;mnt:unknown;net:unknown;pid:unknown;user:unknown"));
}

}  // namespace hcomm
