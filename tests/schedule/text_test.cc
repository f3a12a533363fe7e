#include "schedule/text.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "algos/algorithm.h"
#include "schedule/samples.h"

namespace hcomm {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string fault_of(std::string_view text) {
  const Result<Schedule> parsed = parse_schedule(text);
  return parsed.ok() ? "" : std::string(parsed.status().trail());
}

const std::string kHeader = "schedule allreduce algorithm=x ranks=1 root=0 slots=2 blocks=1 scratch=1 window=1\n";

std::string with_op(const std::string& op) { return kHeader + "rank 0\n  body\n    0 " + op + "\n"; }

}  // namespace

TEST_CASE("golden texts are printed as they were read") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TEST_SOURCE_DIR) / "schedule" / "golden")) {
    const std::string text = read_file(entry.path());
    INFO(entry.path().filename());
    const Result<Schedule> parsed = parse_schedule(text);
    INFO(parsed.status().trail());
    REQUIRE(parsed.ok());
    CHECK(to_text(parsed.value()) == text);
    ++files;
  }
  CHECK(files >= 2);
}

TEST_CASE("the sample prints as its golden text") {
  CHECK(to_text(sample()) == read_file(std::filesystem::path(TEST_SOURCE_DIR) / "schedule" / "golden" / "sample.schedule"));
}

TEST_CASE("what was printed is read back as it was") {
  std::size_t schedules = 0;
  for (const Algorithm* algorithm : algorithms()) {
    for (const int ranks : {1, 2, 3, 4, 5, 8, 13}) {
      const Problem problem{.collective = algorithm->collective, .ranks = ranks, .root = 0, .slots = 1 + ranks % 3};
      if (!algorithm->supports(problem)) continue;
      const Schedule schedule = write_schedule(*algorithm, problem);
      const Result<Schedule> parsed = parse_schedule(to_text(schedule));
      INFO(parsed.status().trail());
      REQUIRE(parsed.ok());
      CHECK(parsed.value() == schedule);
      ++schedules;
    }
  }
  CHECK(schedules > 20);
  CHECK(parse_schedule(to_text(sample())).value() == sample());
}

TEST_CASE("what a printed schedule cannot show by its kind is shown all the same") {
  const auto back = [](const Schedule& schedule) { return parse_schedule(to_text(schedule)).value() == schedule; };
  Schedule schedule = sample();
  schedule.programs[1].slices[3].owner = 0;
  schedule.programs[1].slices[3].place = 7;
  schedule.programs[1].slices[3].count = 0;
  CHECK(back(schedule));
  schedule.programs[0].ops[0].lane = Lane::control;
  schedule.programs[0].ops[1].lane = Lane::point_to_point;
  schedule.programs[0].ops[1].peer = 77;
  CHECK(back(schedule));
}

TEST_CASE("comments, blank lines and other blanks are read over") {
  const std::string text = "# a\n\n" + kHeader + "rank 0 # b\n\tbody\r\n 0  combine output[ 0 ]<-input[0]#c\n\n";
  const Result<Schedule> parsed = parse_schedule(text);
  INFO(parsed.status().trail());
  REQUIRE(parsed.ok());
  CHECK(to_text(parsed.value()) == with_op("combine output[0] <- input[0]"));
}

TEST_CASE("a fault names line, column, what was found and what is legal") {
  const std::pair<std::string, std::string> cases[] = {
      {"", "line 1, column 1: found the end of the line, expected a line that starts with schedule"},
      {"nonsense", "line 1, column 1: found `nonsense`, expected schedule"},
      {"schedule everything", "line 1, column 10: found `everything`, expected one of allreduce, broadcast, reduce_scatter"},
      {"schedule barrier algorithm=(x)", "line 1, column 28: found `(x)`, expected the algorithm's name"},
      {"schedule barrier algorithm=x ranks=0", "line 1, column 36: found `0`, expected a number from 1 to 4096"},
      {"schedule barrier algorithm=x ranks=99999999999999999999999", "expected a number from 1 to 4096"},
      {"schedule barrier algorithm=x ranks=-1", "found `-1`, expected a number from 1 to 4096"},
      {"schedule barrier algorithm=x ranks=2 slots=2", "found `slots=2`, expected root"},
      {kHeader, "line 2, column 1: found the end of the line, expected rank 0"},
      {kHeader + "body", "line 2, column 1: found `body`, expected rank 0"},
      {kHeader + "rank 1", "line 2, column 6: found `1`, expected a number from 0 to 0"},
      {kHeader + "rank 0\nrank 1", "line 3, column 6: found `1`, expected no more ranks"},
      {kHeader + "rank 0\n0 signal filled", "line 3, column 1: found `0`, expected prologue, body or epilogue"},
      {kHeader + "rank 0\nbody\nprologue", "expected the sections prologue, body, epilogue in this order"},
      {kHeader + "rank 0\nbody\nbody", "expected the sections prologue, body, epilogue in this order"},
      {kHeader + "rank 0\nbody\nsignal filled", "line 4, column 1: found `signal`, expected op 0, a section or the next rank"},
      {kHeader + "rank 0\nbody\n1 signal filled", "line 4, column 1: found `1`, expected a number from 0 to 0"},
      {with_op("jump"), "line 4, column 7: found `jump`, expected one of send, recv, combine, signal, await"},
      {with_op("signal done"), "found `done`, expected one of filled, reduced, finished"},
      {with_op("signal filled now"), "found `now`, expected the end of the line"},
      {with_op("signal filled lane fast"), "found `fast`, expected one of collective, point_to_point, control"},
      {with_op("signal filled after"), "found the end of the line, expected a number from 0 to 4294967295"},
      {with_op("await filled 1"), "found `1`, expected of"},
      {with_op("await filled of 0 back 256"), "found `256`, expected a number from 0 to 255"},
      {with_op("send input[0]"), "found the end of the line, expected to"},
      {with_op("send input[0] to x"), "found `x`, expected a number from 0 to 2147483647"},
      {with_op("send memory[0] to 0"), "found `memory[0]`, expected one of input, output, scratch, slot, exposed"},
      {with_op("send slot@0[0] to 0"), "found `@0[0]`, expected the owner in parentheses"},
      {with_op("send scratch[0] to 0"), "found `[0]`, expected @ and a unit"},
      {with_op("send input[0 to 0"), "found `to`, expected ] or .."},
      {with_op("send input[3..2) to 0"), "found `2)`, expected a number from 3 to 4294967295"},
      {with_op("send input[0..2] to 0"), "found `]`, expected )"},
      {with_op("combine output[0] input[0]"), "found `input[0]`, expected <-"},
      {with_op("combine output[0], <- input[0]"), "found `<-`, expected one of input, output, scratch, slot, exposed"},
      {with_op("\x01\xff"), "found `??`, expected one of send"},
  };
  for (const auto& [text, fault] : cases) {
    INFO(text);
    CHECK_THAT(fault_of(text), Catch::Contains(fault));
  }
}

TEST_CASE("every prefix and every spoiled byte of a text is read or refused, never more") {
  const std::string text = to_text(sample());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    refused += fault_of(text.substr(0, i)).empty() ? 0 : 1;
    for (const char c : {'\0', '9', '[', '\n', '\xff'}) {
      std::string spoiled = text;
      spoiled[i] = c;
      const Result<Schedule> parsed = parse_schedule(spoiled);
      if (parsed.ok()) {
        CHECK(parse_schedule(to_text(parsed.value())).value() == parsed.value());
      } else {
        ++refused;
      }
    }
  }
  CHECK(refused > text.size());
}

}  // namespace hcomm
