#include "verify/form.h"

#include <catch2/catch.hpp>

#include "schedule/builder.h"

namespace hcomm {
namespace {

Schedule alone() {
  const Problem problem{.collective = Collective::allreduce, .ranks = 1};
  ProgramBuilder self(problem, Shape{}, 0);
  self.combine({prepared(self.input(0))}, {finished(self.output(0))});
  return {.algorithm = "alone", .problem = problem, .shape = {}, .programs = {std::move(self).finish()}};
}

}  // namespace

TEST_CASE("a schedule whose parts do not fit each other is refused before it is run") {
  CHECK(check_form(alone()).proved());
  const auto refused = [](auto&& spoil) {
    Schedule schedule = alone();
    spoil(schedule);
    return check_form(schedule).fault == Fault::malformed;
  };
  CHECK(refused([](Schedule& s) { s.programs.clear(); }));
  CHECK(refused([](Schedule& s) { s.programs[0].rank = 1; }));
  CHECK(refused([](Schedule& s) { s.programs[0].body.count = 2; }));
  CHECK(refused([](Schedule& s) { s.programs[0].body.count = 0; }));
  CHECK(refused([](Schedule& s) { s.programs[0].prologue = {.first = 1, .count = 1}; }));
  CHECK(refused([](Schedule& s) { s.programs[0].ops[0].first_source = UINT32_MAX; }));
  CHECK(refused([](Schedule& s) { s.programs[0].ops[0].target_count = 2; }));
  CHECK(refused([](Schedule& s) { s.programs[0].ops[0].wait_count = 1; }));
  CHECK(refused([](Schedule& s) { s.programs[0].ops[0].source_count = 0; }));
  CHECK(refused([](Schedule& s) { s.problem.ranks = kMaxRanks + 1; }));
  CHECK(refused([](Schedule& s) { s.problem.slots = kMaxSlots + 1; }));
  CHECK(refused([](Schedule& s) { s.problem.slots = 0; }));
}

TEST_CASE("a schedule that needs unbounded memory is refused") {
  for (int huge : {kMaxBlocks + 1, INT32_MAX}) {
    Schedule schedule = alone();
    schedule.shape.blocks = huge;
    CHECK(check_form(schedule).fault == Fault::malformed);
    schedule.shape = {.blocks = 1, .scratch_units = huge, .slot_units = 0};
    CHECK(check_form(schedule).fault == Fault::malformed);
    schedule.shape = {.blocks = 1, .scratch_units = 0, .slot_units = huge};
    CHECK(check_form(schedule).fault == Fault::malformed);
  }
}

TEST_CASE("calls on one communicator have the same ranks and slots") {
  const Schedule one = alone();
  Schedule other = alone();
  other.problem.slots = 1;
  const Call calls[] = {{&one, 1, {}}, {&other, 1, {}}};
  CHECK(check_calls(calls).fault == Fault::malformed);
  CHECK(check_calls(std::span(calls).first(1)).proved());
}

}  // namespace hcomm
