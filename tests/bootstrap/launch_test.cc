#include "bootstrap/launch.h"

#include <catch2/catch.hpp>
#include <map>

#include <unistd.h>

#include "bootstrap/facts.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;
using Environment = std::map<std::string, std::string, std::less<>>;

Result<Launch> detect(const Environment& environment) {
  return detect_launch([&](std::string_view name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

Environment complete() {
  return {{"HCOMM_RANK", "1"}, {"HCOMM_SIZE", "4"}, {"HCOMM_JOB", to_hex(make_job_id().value())}};
}

TEST_CASE("what hcomm run sets is understood") {
  const Environment environment = complete();
  const Launch launch = detect(environment).value();
  CHECK(launch.rank == 1);
  CHECK(launch.ranks == 4);
  CHECK(to_hex(launch.job) == environment.at("HCOMM_JOB"));
}

TEST_CASE("nothing set is an error that says how to start, never one rank") {
  const Result<Launch> refused = detect({});
  CHECK(refused.status().code() == hcommInvalidUsage);
  CHECK_THAT(std::string(refused.status().trail()), Contains("HCOMM_RANK") && Contains("hcomm run -n"));
}

TEST_CASE("another launcher's variables are named") {
  const Result<Launch> refused = detect({{"WORLD_SIZE", "2"}, {"TORCHELASTIC_RUN_ID", "x"}});
  CHECK_THAT(std::string(refused.status().trail()), Contains("torchrun"));
}

TEST_CASE("a variable that is missing or empty is named") {
  for (const std::string name : {"HCOMM_RANK", "HCOMM_SIZE", "HCOMM_JOB"}) {
    for (const bool empty : {false, true}) {
      Environment environment = complete();
      if (empty) environment[name] = "";
      else environment.erase(name);
      INFO(name << (empty ? " empty" : " missing"));
      const Result<Launch> refused = detect(environment);
      CHECK(refused.status().code() == hcommInvalidUsage);
      CHECK_THAT(std::string(refused.status().trail()), Contains("but " + name));
    }
  }
}

TEST_CASE("garbage is named with its value and what is legal") {
  struct Case {
    std::string name;
    std::string value;
  };
  for (const Case& wrong :
       {Case{"HCOMM_SIZE", "two"}, Case{"HCOMM_SIZE", "0"}, Case{"HCOMM_SIZE", "-1"}, Case{"HCOMM_SIZE", "4097"},
        Case{"HCOMM_SIZE", "4 "}, Case{"HCOMM_SIZE", "99999999999999"}, Case{"HCOMM_RANK", "-1"}, Case{"HCOMM_RANK", "1x"},
        Case{"HCOMM_RANK", "4"}, Case{"HCOMM_JOB", "abc"}}) {
    Environment environment = complete();
    environment[wrong.name] = wrong.value;
    INFO(wrong.name << "=" << wrong.value);
    const Result<Launch> refused = detect(environment);
    CHECK(refused.status().code() == hcommInvalidArgument);
    CHECK_THAT(std::string(refused.status().trail()), Contains(wrong.name));
    if (wrong.name != "HCOMM_JOB") CHECK_THAT(std::string(refused.status().trail()), Contains(wrong.value));
  }
}

TEST_CASE("own facts are true") {
  const Facts facts = own_facts();
  CHECK(facts.pid == getpid());
  CHECK(facts.uid == getuid());
  CHECK(facts.pid_namespace != 0);
}

}  // namespace
}  // namespace hcomm
