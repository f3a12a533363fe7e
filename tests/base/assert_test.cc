// Goal: a broken invariant ends the process and says which one and where, in release builds too.
// Method: a child process breaks one; the parent reads its last words.
#include "base/assert.h"

#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include "captured_fd.h"
#include "child.h"

namespace hcomm {
namespace {

struct Death {
  int signal = 0;
  std::string words;
};

template <class Body>
Death death_of(Body&& body) {
  CapturedFd error(STDERR_FILENO);
  const int code = testing::exit_code_of([&] {
    const rlimit no_core{};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGABRT, SIG_DFL);
    body();
  });
  return {.signal = code > 128 ? code - 128 : 0, .words = error.text()};
}

TEST_CASE("an assertion that holds does nothing") {
  HCOMM_ASSERT(1 + 1 == 2);
  CHECK(death_of([] { HCOMM_ASSERT(true); }).signal == 0);
}

TEST_CASE("an assertion that does not hold aborts with its text, file and line") {
  const Death death = death_of([] { HCOMM_ASSERT(1 + 1 == 3); });
  CHECK(death.signal == SIGABRT);
  CHECK(death.words.find("broken invariant: 1 + 1 == 3") != std::string::npos);
  CHECK(death.words.find("assert_test.cc:") != std::string::npos);
}

TEST_CASE("an unreachable place aborts") {
  const Death death = death_of([] { unreachable(); });
  CHECK(death.signal == SIGABRT);
  CHECK(death.words.find("unreachable") != std::string::npos);
}

}  // namespace
}  // namespace hcomm
