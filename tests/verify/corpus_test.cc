// Hand-written schedules: the right ones are proved, each wrong one is refused for its own reason and in words that name it.
#include <catch2/catch.hpp>

#include "verify/case_file.h"
#include "verify/verify.h"

namespace hcomm {

TEST_CASE("right schedules are proved") {
  const auto cases = read_cases("accepted");
  REQUIRE(cases.size() >= 18);
  for (const CaseFile& file : cases) {
    const Judgement judgement = judge_case(file);
    INFO(file.name << ": " << judgement.story);
    CHECK(judgement.proved());
    CHECK(judgement.story.empty());
  }
}

TEST_CASE("wrong schedules are refused, and the story says why") {
  const auto cases = read_cases("refused");
  REQUIRE(cases.size() >= 70);
  for (const CaseFile& file : cases) {
    const Judgement judgement = judge_case(file);
    INFO(file.name << ": " << judgement.story);
    CHECK(name(judgement.fault) == file.fault);
    CHECK_FALSE(file.words.empty());
    for (const std::string& words : file.words) CHECK_THAT(judgement.story, Catch::Contains(words));
  }
}

}  // namespace hcomm
