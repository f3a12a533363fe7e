#include "api/last_error.h"

#include <catch2/catch.hpp>

#include <string>
#include <thread>

namespace hcomm {

// In a thread of its own, so that no other test's failure is there.
template <class Body>
void in_new_thread(Body body) {
  std::thread(body).join();
}

TEST_CASE("a thread starts without an error") {
  std::string text = "something";
  in_new_thread([&] { text = last_error::text(); });
  CHECK(text.empty());
}

TEST_CASE("a failure is kept, a success keeps what was there") {
  CHECK(last_error::set(hcommTimeout, "rank 3 is late") == hcommTimeout);
  CHECK(last_error::text() == std::string("rank 3 is late"));
  CHECK(last_error::set(hcommSuccess, "") == hcommSuccess);
  CHECK(last_error::text() == std::string("rank 3 is late"));
  CHECK(last_error::set(hcommInvalidUsage, "no") == hcommInvalidUsage);
  CHECK(last_error::text() == std::string("no"));  // nothing is left of the longer one
}

TEST_CASE("a long text is cut, and still ends") {
  const std::string fits(2047, 'f');
  const std::string longer = fits + "x";
  last_error::set(hcommSystemError, fits);
  CHECK(last_error::text() == fits);
  last_error::set(hcommSystemError, longer);
  CHECK(last_error::text() == fits);
  CHECK(last_error::lend(longer) == fits);
  last_error::set(hcommSystemError, std::string(100'000, 'y'));
  CHECK(last_error::text() == std::string(2047, 'y'));
}

TEST_CASE("each thread has its own") {
  last_error::set(hcommTimeout, "here");
  std::string lent = last_error::lend("lent here");
  const char* const here = last_error::lend("lent here");
  in_new_thread([&] {
    last_error::set(hcommAborted, "there");
    last_error::lend("lent there");
  });
  CHECK(last_error::text() == std::string("here"));
  CHECK(here == lent);
}

TEST_CASE("a lent text leaves the thread's own alone, and the other way round") {
  last_error::set(hcommTimeout, "own");
  const char* const lent = last_error::lend("of a communicator");
  CHECK(last_error::text() == std::string("own"));
  last_error::set(hcommTimeout, "own, too");
  CHECK(lent == std::string("of a communicator"));
  CHECK(last_error::lend(last_error::text()) == std::string("own, too"));
}

}  // namespace hcomm
