// The schedules as people read them, at three ranks. A change of one is a change of what runs: look at it, then write
// them anew with
//     algos_tests "[.regenerate]"
// and say why in the commit.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "algos/algorithm.h"
#include "schedule/text.h"

namespace hcomm {
namespace {

const std::filesystem::path kGolden = HCOMM_GOLDEN_FOLDER;

std::string file_name(const Algorithm& algorithm) {
  return std::string(algorithm.name) + "_" + std::string(name(algorithm.collective)) + ".schedule";
}

std::string text_of(const Algorithm& algorithm) {
  const int root = has_root(algorithm.collective) ? 1 : 0;
  return to_text(write_schedule(algorithm, {.collective = algorithm.collective, .ranks = 3, .root = root, .slots = 2}));
}

}  // namespace

TEST_CASE("every algorithm writes what its golden file says") {
  for (const Algorithm* algorithm : algorithms()) {
    INFO(file_name(*algorithm) << " differs; to write it anew: algos_tests \"[.regenerate]\"");
    std::ifstream file(kGolden / file_name(*algorithm));
    std::stringstream expected;
    expected << file.rdbuf();
    CHECK(text_of(*algorithm) == expected.str());
  }
}

TEST_CASE("a golden file reads back as the schedule") {
  for (const Algorithm* algorithm : algorithms()) {
    INFO(file_name(*algorithm));
    const Result<Schedule> parsed = parse_schedule(text_of(*algorithm));
    REQUIRE(parsed.ok());
    CHECK(parsed.value() == write_schedule(*algorithm, parsed.value().problem));
  }
}

TEST_CASE("there is no golden file that nobody reads") {
  std::set<std::string> expected;
  for (const Algorithm* algorithm : algorithms()) expected.insert(file_name(*algorithm));
  for (const auto& entry : std::filesystem::directory_iterator(kGolden)) {
    INFO(entry.path());
    CHECK(expected.contains(entry.path().filename().string()));
  }
}

TEST_CASE("write the golden files anew", "[.regenerate]") {
  for (const Algorithm* algorithm : algorithms()) {
    std::ofstream(kGolden / file_name(*algorithm)) << text_of(*algorithm);
  }
  SUCCEED();
}

}  // namespace hcomm
