#include "bootstrap/secret_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

// A file of its own, gone with the test.
class File {
 public:
  explicit File(const std::string& contents, mode_t mode = 0600) {
    const int made = mkstemp(path_.data());
    REQUIRE(made >= 0);
    REQUIRE(write(made, contents.data(), contents.size()) == static_cast<ssize_t>(contents.size()));
    REQUIRE(fchmod(made, mode) == 0);
    close(made);
  }
  ~File() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/hcomm-secret-XXXXXX";
};

std::string refusal(const std::string& path) {
  const Result<Secret> secret = read_secret_file(path);
  CHECK(secret.status().code() == hcommInvalidArgument);
  return std::string(secret.status().trail());
}

TEST_CASE("a secret is the same for the same bytes and another one for others") {
  const File one("0123456789abcdef");
  const File same("0123456789abcdef", 0400);
  const File other("0123456789abcdeg");
  CHECK(read_secret_file(one.path()).value() == read_secret_file(same.path()).value());
  CHECK(read_secret_file(one.path()).value() != read_secret_file(other.path()).value());
}

TEST_CASE("a secret that others can use, of any kind, is refused with its mode and the cure") {
  for (const mode_t mode : {0644, 0640, 0604, 0660, 0601, 0610}) {
    const File file("0123456789abcdef", mode);
    CHECK_THAT(refusal(file.path()), Contains("chmod 600 " + file.path()) && Contains("mode 06"));
  }
}

TEST_CASE("secrets that are short, long, absent, no file or somebody else's are refused") {
  CHECK_THAT(refusal("/tmp/hcomm-no-such-secret"), Contains("cannot be opened"));
  const File short_one("0123456789abcde");
  CHECK_THAT(refusal(short_one.path()), Contains("has 15 bytes; legal are 16 to 65536"));
  const File long_one(std::string(kMostSecretBytes + 1, 'x'));
  CHECK_THAT(refusal(long_one.path()), Contains("more than 65536 bytes"));
  CHECK_THAT(refusal("/tmp"), Contains("no regular file"));
  if (geteuid() != 0) return;
  const File foreign("0123456789abcdef");
  REQUIRE(chown(foreign.path().c_str(), 65534, 65534) == 0);
  CHECK_THAT(refusal(foreign.path()), Contains("belongs to user 65534"));
}

}  // namespace
}  // namespace hcomm
