// Goal: whatever the order in which ranks get to run, every result is exact, nothing else is written, and no rank is stuck.
// Method: a deterministic world in one thread. Seeds draw who has the next step, how far ranks drift apart, the moods of the
//         transport, and the calls: every algorithm of every collective, in one chunk and in many, with slots in use again,
//         inputs staged, inline and in windows. Whoever has its result at once spoils all its memory, as a caller may.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

#include "kernels/combine.h"
#include "rig.h"

namespace hcomm::testing {
namespace {

constexpr Store kStores[] = {Store::regular, Store::non_temporal, Store::rep_movsb};

template <class Choices>
auto one_of(const Choices& choices, Random& random) {
  return choices[random.below(std::size(choices))];
}

Task draw_task(const Algorithm& algorithm, std::size_t count, std::size_t unit_lines, int ranks, Random& random) {
  const auto masks = std::uint64_t{1} << ranks;
  Task task{.algorithm = &algorithm, .unit_lines = unit_lines};
  task.call = {.collective = algorithm.collective,
               .count = algorithm.collective == Collective::barrier ? 0 : count,
               .dtype = one_of(combine_types(), random),
               .root = has_root(algorithm.collective) ? static_cast<int>(random.below(static_cast<std::uint64_t>(ranks))) : 0};
  task.call.op = one_of(combine_ops(task.call.dtype), random);
  task.may_inline = random.below(4) != 0;
  task.windowed = static_cast<std::uint32_t>(random.below(masks));
  task.in_place = static_cast<std::uint32_t>(random.below(masks));
  task.store = one_of(kStores, random);
  return task;
}

// Of every algorithm: a message that fits the step lines, one of a few lines, and one of many chunks; in any order.
std::vector<Task> all_tasks(const WorldSpec& spec) {
  Random random(spec.seed);
  std::vector<Task> tasks;
  for (const Algorithm* const each : algorithms()) {
    if (!each->supports({.collective = each->collective, .ranks = spec.ranks, .slots = spec.slots})) continue;
    const auto below = [&](std::uint64_t bound) { return static_cast<std::size_t>(random.below(bound)); };
    tasks.push_back(draw_task(*each, below(5), kMostUnitLines, spec.ranks, random));
    tasks.push_back(draw_task(*each, 1 + below(200), kMostUnitLines, spec.ranks, random));
    tasks.push_back(draw_task(*each, 300 + below(900), 1 + below(3), spec.ranks, random));
  }
  for (std::size_t left = tasks.size(); left > 1; --left) std::swap(tasks[left - 1], tasks[random.below(left)]);
  return tasks;
}

std::vector<Task> few_tasks(const WorldSpec& spec, std::size_t count) {
  std::vector<Task> tasks = all_tasks(spec);
  tasks.resize(std::min(tasks.size(), count));
  return tasks;
}

void add(Seen& all, const Seen& more) {
  all.waits += more.waits;
  all.slots_reused += more.slots_reused;
  all.inlined += more.inlined;
  all.windowed += more.windowed;
  all.ahead += more.ahead;
}

void saw_everything(const Seen& seen) {
  CHECK(seen.waits > 0);
  CHECK(seen.slots_reused > 0);
  CHECK(seen.inlined > 0);
  CHECK(seen.windowed > 0);
  CHECK(seen.ahead > 0);
}

const FaultPlan kPlans[] = {FaultPlan::none(), FaultPlan::delays(), FaultPlan::busy()};

WorldSpec draw_world(std::uint64_t seed, bool shared_memory) {
  Random random(seed);
  return {.shared_memory = shared_memory,
          .ranks = 2 + static_cast<int>(random.below(3)),
          .slots = 1 + static_cast<int>(random.below(3)),
          .faults = kPlans[random.below(3)],
          .seed = seed};
}

void run_and_require(const WorldSpec& spec, std::span<const Task> tasks, Seen& seen) {
  World world(spec);
  const std::string wrong = world.run(tasks);
  INFO(describe(spec));
  REQUIRE(wrong == "");
  add(seen, world.seen());
}

}  // namespace

TEST_CASE("every algorithm of every collective is exact in every world") {
  Seen seen;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    for (int slots = 1; slots <= 3; ++slots) {
      for (const FaultPlan& faults : kPlans) {
        for (const bool shared_memory : {false, true}) {
          const auto seed = static_cast<std::uint64_t>(ranks * 10 + slots);
          const WorldSpec spec{.shared_memory = shared_memory, .ranks = ranks, .slots = slots, .faults = faults, .seed = seed};
          run_and_require(spec, all_tasks(spec), seen);
        }
      }
    }
  }
  saw_everything(seen);
}

TEST_CASE("two thousand interleavings of a few calls") {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const WorldSpec spec = draw_world(seed, false);
    run_and_require(spec, few_tasks(spec, 5), seen);
  }
  saw_everything(seen);
}

// Small messages of one root after another: the writer is ahead of its readers by as many calls as there are slots.
TEST_CASE("a hundred interleavings of many messages in the step lines") {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const WorldSpec spec = draw_world(seed, false);
    Random random(seed);
    std::vector<Task> tasks;
    for (int call = 0; call < 30; ++call) {
      const Collective collective = random.below(4) == 0 ? Collective::allreduce : Collective::broadcast;
      const Algorithm& algorithm = *find_algorithm("flat", collective);
      Task task = draw_task(algorithm, 1 + random.below(2), kMostUnitLines, spec.ranks, random);
      task.call.dtype = hcommInt32;
      task.call.root = 0;
      task.may_inline = true;
      tasks.push_back(task);
    }
    run_and_require(spec, tasks, seen);
  }
  CHECK(seen.inlined > 1000);
  CHECK(seen.ahead > 0);
}

TEST_CASE("interleavings over shared memory") {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const WorldSpec spec = draw_world(seed, true);
    run_and_require(spec, few_tasks(spec, 12), seen);
  }
  saw_everything(seen);
}

// The canary: a world that hides a spoiled result proves nothing.
TEST_CASE("the rig notices a schedule that forgets to wait") {
  static const Algorithm careless = {
      .name = "careless",
      .collective = Collective::broadcast,
      .supports = [](const Problem&) { return true; },
      .shape = [](const Problem&) { return Shape{.blocks = 1, .slot_units = 1}; },
      .rounds = [](const Problem&) { return 1; },
      .expression = "",
      .write = [](ProgramBuilder& self) {
        if (self.rank() == self.root()) self.copy(self.input(0), self.slot(self.root(), 0, 0));
        self.copy(self.slot(self.root(), 0, 0), self.output(0));  // nobody said that it is filled
        self.signal(Phase::finished);
      }};
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Task task{.call = {.collective = Collective::broadcast, .count = 100, .dtype = hcommInt32}, .algorithm = &careless};
    World world({.seed = seed});
    std::memset(world.rank(0).transport().window()->slot(0, 0), 0, 400);
    noticed += !world.run({&task, 1}).empty();
  }
  CHECK(noticed > 0);
  CHECK(noticed < 20);
}

}  // namespace hcomm::testing
