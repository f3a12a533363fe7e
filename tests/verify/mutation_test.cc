// The judge is judged: every small mistake in a right schedule is refused, unless it changes nothing. That it changes nothing is
// shown by running every interleaving, with an interpreter that shares no code with the verifier.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "algos/algorithm.h"
#include "base/random.h"
#include "verify/case_file.h"
#include "verify/interleave.h"
#include "verify/mutations.h"
#include "verify/verify.h"

namespace hcomm {
namespace {

constexpr std::size_t kMaxStates = 60'000;
const std::filesystem::path kFolder = std::filesystem::path(TEST_SOURCE_DIR) / "verify";
constexpr auto kEquivalents = "equivalents.txt";
constexpr auto kEquivalentsOfAlgorithms = "equivalents_of_algorithms.txt";

bool names_exposed(const Schedule& schedule) {
  return std::ranges::any_of(schedule.programs, [](const Program& program) {
    return std::ranges::any_of(program.slices, [](const Slice& slice) { return slice.buffer == Buffer::exposed; });
  });
}

// One slot more than there are, in calls of one chunk; and two chunks of one call.
std::vector<Setting> settings(const Schedule& schedule) {
  const bool exposes = names_exposed(schedule);
  const bool moves = schedule.problem.collective != Collective::barrier;
  std::vector<Setting> list;
  for (const bool in_place : {false, true}) {
    for (const bool windowed : {false, true}) {
      for (const bool buffered : {false, true}) {
        if ((windowed && !exposes) || (in_place && !moves)) continue;
        Setting setting{.in_place = in_place, .windowed = windowed, .buffered = buffered, .max_states = kMaxStates};
        setting.calls = schedule.problem.slots + 1;
        list.push_back(setting);
        setting.calls = 1;
        setting.chunks = 2;
        if (moves) list.push_back(setting);
      }
    }
  }
  return list;
}

struct Study {
  std::string fault;
  bool gave_up = false;
  std::vector<std::uint64_t> outputs;  // per setting
};

Study study(const Schedule& schedule) {
  Study result;
  for (const Setting& setting : settings(schedule)) {
    const Finding finding = run_every_interleaving(schedule, setting);
    if (!finding.fault.empty()) return {.fault = finding.fault};
    result.gave_up |= finding.gave_up;
    result.outputs.push_back(finding.outputs);
  }
  return result;
}

struct Tally {
  std::size_t refused = 0;
  std::set<std::string> equivalent;
  std::vector<std::string> escaped;  // accepted though some interleaving goes wrong
};

void judge_mutants(const std::string& name, const Schedule& schedule, Tally& tally) {
  const Study original = study(schedule);
  INFO(name << ": " << original.fault);
  REQUIRE(original.fault.empty());
  REQUIRE_FALSE(original.gave_up);
  for (const Mutant& mutant : all_mutants(schedule)) {
    if (!verify(mutant.schedule).proved()) {
      ++tally.refused;
      continue;
    }
    const Study changed = study(mutant.schedule);
    const std::string line = name + ": " + mutant.what;
    if (!changed.fault.empty() || changed.gave_up) {
      tally.escaped.push_back(line + ": " + (changed.gave_up ? "too many states" : changed.fault));
      continue;
    }
    // The window's placements come last in the list and may differ in number, if the mutant names no exposed buffer.
    tally.equivalent.insert(line + (changed.outputs[0] == original.outputs[0] ? "" : ": another order of the operands"));
  }
}

std::set<std::string> listed_in(const std::string& file) {
  std::ifstream stream(kFolder / file);
  std::set<std::string> lines;
  std::string line;
  while (std::getline(stream, line)) {
    if (!line.empty() && line[0] != '#') lines.insert(line);
  }
  return lines;
}

// The survivors and the list are the same, and no survivor is wrong.
void check_survivors(const Tally& tally, const std::set<std::string>& listed, const std::string& file) {
  for (const std::string& line : tally.escaped) FAIL_CHECK("accepted, but wrong: " << line);
  for (const std::string& line : tally.equivalent) {
    if (!listed.contains(line)) FAIL_CHECK("not in " << file << ": " << line);
  }
  for (const std::string& line : listed) {
    if (!tally.equivalent.contains(line)) FAIL_CHECK("in " << file << ", but not found to change nothing: " << line);
  }
  CHECK(tally.refused > 8 * tally.equivalent.size());
}

// All mutants of the right schedules with so many ranks, against the list.
void judge_corpus(int ranks) {
  Tally tally;
  std::set<std::string> names;
  for (const CaseFile& file : read_cases("accepted")) {
    if (file.schedules.size() != 1 || file.schedules[0].problem.ranks != ranks) continue;
    names.insert(file.name + ":");
    judge_mutants(file.name, file.schedules[0], tally);
  }
  std::set<std::string> listed;
  for (const std::string& line : listed_in(kEquivalents)) {
    if (names.contains(line.substr(0, line.find(' ')))) listed.insert(line);
  }
  check_survivors(tally, listed, kEquivalents);
}

// As write_schedule does, but cut into so many blocks.
Schedule write_with_blocks(const Algorithm& algorithm, const Problem& problem, int blocks) {
  Schedule schedule{.algorithm = std::string(algorithm.name), .problem = problem, .shape = algorithm.shape(problem)};
  schedule.shape.blocks = blocks;
  for (int rank = 0; rank < problem.ranks; ++rank) {
    ProgramBuilder builder(problem, schedule.shape, rank);
    algorithm.write(builder);
    schedule.programs.push_back(std::move(builder).finish());
  }
  return schedule;
}

// The chain of the ring's broadcast has eight blocks and each of the two trees, too; each is received and passed on while the
// next arrives: too many states to run all interleavings. With fewer it is the same program with fewer turns of its loop. Three
// blocks of a chain still are a first one, a last one and one between; a tree has two at two ranks and one at three. That the
// long schedules are right is proved with those of all other algorithms, in tests/algos.
int short_blocks(const Algorithm& algorithm, const Problem& problem) {
  if (algorithm.name == "tree") return problem.ranks == 2 ? 4 : 2;
  return algorithm.name == "ring" && algorithm.collective == Collective::broadcast ? 3 : 0;
}

Schedule schedule_to_mutate(const Algorithm& algorithm, const Problem& problem) {
  const int blocks = short_blocks(algorithm, problem);
  return blocks > 0 ? write_with_blocks(algorithm, problem, blocks) : write_schedule(algorithm, problem);
}

// The mutations that the verifier proves, as who does what, whichever op it is: "rank 1 op : forget to wait for ".
std::set<std::string> kinds_of_survivors(const Schedule& schedule) {
  std::set<std::string> kinds;
  for (const Mutant& mutant : all_mutants(schedule)) {
    if (!verify(mutant.schedule).proved()) continue;
    const std::size_t end_of_rank = mutant.what.find(" op ");
    std::string what = mutant.what.substr(end_of_rank);
    std::erase_if(what, [](char letter) { return '0' <= letter && letter <= '9'; });
    kinds.insert(mutant.what.substr(0, end_of_rank) + what);
  }
  return kinds;
}

// All mutants of all algorithms, for two ranks and for three.
Tally judge_algorithms() {
  Tally tally;
  for (const Algorithm* algorithm : algorithms()) {
    for (const int ranks : {2, 3}) {
      // A single slot for three ranks: fewer states, and no less to go wrong.
      const Problem problem{.collective = algorithm->collective, .ranks = ranks, .slots = ranks == 2 ? 2 : 1};
      REQUIRE(algorithm->supports(problem));
      judge_mutants(std::string(algorithm->name) + " " + std::string(name(algorithm->collective)) + " ranks=" +
                        std::to_string(ranks) + " slots=" + std::to_string(problem.slots),
                    schedule_to_mutate(*algorithm, problem), tally);
    }
  }
  return tally;
}

}  // namespace

TEST_CASE("the mutants of hand-written schedules of two ranks are refused, or change nothing") { judge_corpus(2); }

TEST_CASE("the mutants of hand-written schedules of three ranks are refused, or change nothing", "[proof]") {
  judge_corpus(3);
}

TEST_CASE("the mutants of the algorithms are refused, or change nothing", "[proof]") {
  INFO("to write the list anew: verify_tests \"[.regenerate]\"");
  const Tally tally = judge_algorithms();
  check_survivors(tally, listed_in(kEquivalentsOfAlgorithms), kEquivalentsOfAlgorithms);
  WARN(tally.refused << " mutants refused, " << tally.equivalent.size() << " shown to change nothing");
}

TEST_CASE("the long chain survives the same kinds of mutations as the short one that was run", "[proof]") {
  const Algorithm& chain = *find_algorithm("ring", Collective::broadcast);
  for (const int ranks : {2, 3}) {
    const Problem problem{.collective = Collective::broadcast, .ranks = ranks};
    const Schedule schedule = write_schedule(chain, problem);
    CHECK(schedule.shape.blocks > short_blocks(chain, problem));
    CHECK(kinds_of_survivors(schedule) == kinds_of_survivors(schedule_to_mutate(chain, problem)));
  }
}

TEST_CASE("write the list of the algorithms' equivalents anew", "[.regenerate]") {
  const Tally tally = judge_algorithms();
  for (const std::string& line : tally.escaped) FAIL_CHECK("accepted, but wrong: " << line);
  std::ofstream file(kFolder / kEquivalentsOfAlgorithms);
  file << "# Mutants of the algorithms' schedules that the verifier proves, because they change nothing: every interleaving was\n"
          "# run, and each ends with right outputs. mutation_test.cc checks that these are all, and writes this file:\n"
          "#     verify_tests \"[.regenerate]\"\n"
          "# The ring's broadcast is cut into three blocks here, and each half of a tree's message into two or one.\n";
  for (const std::string& line : tally.equivalent) file << line << "\n";
}

TEST_CASE("several mistakes at once are refused, or change nothing; and no schedule is too wrong to be judged", "[proof]") {
  Random random(7);
  std::vector<CaseFile> files = read_cases("accepted");
  for (CaseFile& file : read_cases("refused")) files.push_back(std::move(file));
  std::size_t accepted = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const CaseFile& file = files[random.below(files.size())];
    Schedule schedule = file.schedules.front();
    if (schedule.problem.ranks > 3) continue;
    for (auto depth = 1 + random.below(4); depth > 0; --depth) {
      std::vector<Mutant> mutants = all_mutants(schedule);
      if (!mutants.empty()) schedule = std::move(mutants[random.below(mutants.size())].schedule);
    }
    if (!verify(schedule).proved()) continue;
    ++accepted;
    const Study result = study(schedule);
    INFO("turn " << turn << ", from " << file.name << ": " << result.fault);
    CHECK(result.fault.empty());
  }
  CHECK(accepted > 10);
}

// The interpreter is judged as well: it must find what is wrong with schedules that the verifier refuses.
TEST_CASE("the interpreter finds the interleaving in which a wrong schedule goes wrong") {
  std::size_t tried = 0;
  std::set<std::string> missed;
  for (const CaseFile& file : read_cases("refused")) {
    const bool runs = file.fault == "race" || file.fault == "deadlock" || file.fault == "contribution" || file.fault == "step";
    if (!runs || file.schedules.size() != 1) continue;
    ++tried;
    if (study(file.schedules[0]).fault.empty()) missed.insert(file.name);
  }
  CHECK(tried >= 40);
  // It knows neither rounding nor room, compares sums rather than their order, and a value put twice into one place is there all
  // the same.
  CHECK(missed == std::set<std::string>{"rounded_elsewhere.schedule", "same_target_twice.schedule",
                                            "sum_as_elements.schedule", "swapped_operands.schedule"});
}

}  // namespace hcomm
