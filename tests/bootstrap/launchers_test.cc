// The table of launchers, and what one row of it reads. Which row counts is launch_test.cc's.
#include "bootstrap/launchers.h"

#include <catch2/catch.hpp>
#include <set>

#include "bootstrap/reading.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("each launcher of the table can be recognised, told apart and explained") {
  std::set<std::string_view> names;
  std::set<std::string_view> marks;
  std::set<std::string_view> processes;
  for (const Launcher& launcher : launchers()) {
    INFO(launcher.name);
    CHECK(names.insert(launcher.name).second);
    CHECK_FALSE(launcher.marks.empty());
    CHECK_FALSE(launcher.rank.empty());
    CHECK_FALSE(launcher.how.empty());
    CHECK_FALSE(launcher.why.empty());
    for (const std::string_view mark : launcher.marks) CHECK(marks.insert(mark).second);
    for (const std::string_view process : launcher.processes) {
      CHECK(processes.insert(process).second);
      CHECK(process.size() <= 15);  // as much of a name as the kernel keeps
    }
    const bool needs_variable = launcher.first_host == FirstHost::variable || launcher.first_host == FirstHost::node_list;
    CHECK(launcher.host_variable.empty() != needs_variable);
  }
}

TEST_CASE("a reading finds the nearest of its launcher's processes, and what was nearly there") {
  const Launcher& slurm = *std::ranges::find(launchers(), "Slurm", &Launcher::name);
  Surroundings surroundings;
  surroundings.variable = [](std::string_view name) -> std::optional<std::string> {
    return name == "SLURM_PROCID" ? std::optional<std::string>("3") : std::nullopt;
  };
  const Reading batch = read_launcher(slurm, surroundings);
  CHECK_FALSE(batch.found());
  CHECK(batch.near == "SLURM_PROCID is set, but SLURM_STEP_NODELIST is not");
  surroundings.variable = [](std::string_view) -> std::optional<std::string> { return "1"; };
  surroundings.ancestors = {{9, 1, "bash"}, {8, 1, "slurmstepd"}, {7, 1, "slurmstepd"}};
  const Reading task = read_launcher(slurm, surroundings);
  CHECK(task.by == "SLURM_PROCID, SLURM_STEP_NODELIST");
  CHECK(task.ancestor == 1u);
  CHECK(task.code == hcommInvalidArgument);  // rank 1 of 1
  CHECK_THAT(task.problem, Contains("SLURM_PROCID is 1 and SLURM_STEP_NUM_TASKS is 1"));
}

TEST_CASE("a legal number is whole and in its range") {
  CHECK(legal_number("0", 0, 9) == 0);
  CHECK(legal_number("9", 0, 9) == 9);
  for (const std::string_view text : {"", "10", "-1", "1 ", " 1", "1x", "+1", "99999999999"}) {
    INFO(text);
    CHECK_FALSE(legal_number(text, 0, 9).has_value());
  }
}

}  // namespace
}  // namespace hcomm
