// The machine and its parts, through calls of a schedule that uses all of them.
#include "verify/machine.h"

#include <catch2/catch.hpp>

#include "verify/case_file.h"
#include "verify/data.h"
#include "verify/memory.h"
#include "verify/outcome.h"
#include "verify/stall.h"
#include "verify/story.h"

namespace hcomm {
namespace {

CaseFile accepted(const std::string& name) {
  return read_case(std::filesystem::path(TEST_SOURCE_DIR) / "verify" / "accepted" / name);
}

}  // namespace

TEST_CASE("a call without elements does nothing and takes no epoch") {
  const CaseFile file = accepted("flat_allreduce_2.schedule");
  const Schedule& schedule = file.schedules[0];
  const Call calls[] = {{&schedule, 0, {}}, {&schedule, 2, {}}, {&schedule, 0, {}}, {&schedule, 1, {}}};
  const Trial trial(calls);
  CHECK(trial.epochs == 3);
  CHECK(trial.epoch(3, 0) == 2);
  CHECK(trial.slot_index(3, 0) == 0);
  CHECK(AbstractMachine(trial).run().proved());
}

TEST_CASE("a schedule without a window takes no epoch") {
  const CaseFile file = accepted("pair_with_channels.schedule");
  const Call calls[] = {{&file.schedules[0], 1, {}}, {&file.schedules[1], 1, {}}, {&file.schedules[0], 1, {}}};
  const Trial trial(calls);
  CHECK(trial.epoch(1, 0) == 1);
  CHECK(trial.epoch(2, 0) == 1);
  CHECK(trial.epochs == 2);
}

TEST_CASE("late bindings: in place, and where an exposed buffer lies") {
  const CaseFile file = accepted("window_broadcast_2.schedule");
  const Call calls[] = {{&file.schedules[0], 1, {.in_place = 2, .windowed = 1}}, {&file.schedules[0], 1, {}}};
  const Trial trial(calls);
  Memory memory(trial);
  const Slice shown{.buffer = Buffer::exposed, .owner = 0, .count = 1};
  CHECK_FALSE(memory.find(shown, 0, 1, 0, 0));  // rank 0 has not come
  for (std::uint32_t call : {0u, 1u}) {
    memory.begin_call(0, call);
    memory.begin_call(1, call);
  }
  CHECK(memory.find(shown, 0, 1, 0, 0)->region == Region::input);
  CHECK(memory.find(shown, 0, 1, 1, 0)->region == Region::slot);
  CHECK(memory.find(shown, 0, 1, 1, 0)->slot == 1);
  CHECK(memory.output(1, 0, 0, 0).cell == memory.input(1, 0, 0, 0).cell);
  CHECK(memory.output(0, 0, 0, 0).cell != memory.input(0, 0, 0, 0).cell);
  CHECK(spot_story(memory.output(1, 0, 0, 0)) == "output[0] of rank 1 (call 0, chunk 0)");
}

TEST_CASE("a combine before the inputs are there is refused, and after it is judged by the outcome") {
  const CaseFile file = accepted("alone_allreduce_1.schedule");
  const Call calls[] = {{&file.schedules[0], 1, {}}};
  const Trial trial(calls);
  World world(trial);
  world.memory.begin_call(0, 0);
  world.clocks[0][0] = 1;
  CHECK(run_combine(world, {.rank = 0, .op = 0, .time = 1}).fault == Fault::bounds);
  fill_inputs(world, {.rank = 0, .op = kCallerFills, .time = 1});
  CHECK(take_outputs(world, {.rank = 0, .op = kCallerReturns, .time = 1}).fault == Fault::contribution);
  CHECK(run_combine(world, {.rank = 0, .op = 0, .time = 1}).proved());
  CHECK(take_outputs(world, {.rank = 0, .op = kCallerReturns, .time = 1}).proved());
}

TEST_CASE("nobody is stalled when all have returned") {
  const CaseFile file = accepted("alone_allreduce_1.schedule");
  const Call calls[] = {{&file.schedules[0], 1, {}}};
  const Trial trial(calls);
  const World world(trial);
  std::vector<Runner> runners(1);
  runners[0].call = 1;
  CHECK(judge_stall(world, runners).proved());
}

}  // namespace hcomm
