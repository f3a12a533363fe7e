// Goal: a failure says what was decided, where, and what was being done; success costs nothing.
#include "base/status.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace hcomm {
namespace {

static_assert(!std::is_copy_constructible_v<Status>);
static_assert(sizeof(Status) == sizeof(void*));

std::size_t count(std::string_view text, char letter) {
  std::size_t number = 0;
  for (const char each : text) number += each == letter ? 1 : 0;
  return number;
}

TEST_CASE("success is empty and stays so") {
  Status status;
  CHECK(status.ok());
  CHECK(status.code() == hcommSuccess);
  CHECK(status.trail().empty());
  const Status later = std::move(status).during("doing nothing");
  CHECK(later.ok());
  CHECK(later.trail().empty());
}

TEST_CASE("a failure keeps its first code and gathers one line per caller") {
  Status status = Status::failure(hcommTimeout, "rank 2 did not come");
  status = std::move(status).during("waiting for chunk 3").during("running allreduce #7");
  CHECK_FALSE(status.ok());
  CHECK(status.code() == hcommTimeout);
  const std::string trail(status.trail());
  CHECK(count(trail, '\n') == 2);
  CHECK(trail.rfind("rank 2 did not come [", 0) == 0);
  CHECK(trail.find("\n  waiting for chunk 3 [") < trail.find("\n  running allreduce #7 ["));
  CHECK(trail.find("status_test.cc:") != std::string::npos);
}

TEST_CASE("a result is a value or the failure that prevented it") {
  Result<std::unique_ptr<int>> good = std::make_unique<int>(5);
  REQUIRE(good.ok());
  CHECK(good.status().ok());
  CHECK(*good.value() == 5);
  const std::unique_ptr<int> taken = std::move(good).value();
  CHECK(*taken == 5);

  Result<int> bad = Status::failure(hcommInvalidArgument, "no");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.status().code() == hcommInvalidArgument);
  const Status moved = std::move(bad).status();
  CHECK(moved.trail().rfind("no [", 0) == 0);
}

}  // namespace
}  // namespace hcomm
