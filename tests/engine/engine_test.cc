// What a run does step by step: how far it goes alone, whom it waits for, how it fails, what it shows to peers.
#include "engine/engine.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "rig.h"

namespace hcomm::testing {
namespace {

Task make_task(std::string_view algorithm, Collective collective, std::size_t count) {
  Task task;
  task.call = {.collective = collective, .count = count, .dtype = hcommInt32};
  task.algorithm = find_algorithm(algorithm, collective);
  REQUIRE(task.algorithm != nullptr);
  return task;
}

// Until nobody moves any more, in turn; a few thousand turns are more than any test here needs.
void settle(World& world, int ranks) {
  int idle = 0;
  for (int turn = 0; turn < 10000 && idle < ranks; ++turn) {
    idle = world.rank(turn % ranks).step() == 0 ? idle + 1 : 0;
  }
}

// Nothing is left to do at once, and those are awaited.
void check_waits_for(DrivenRank& rank, const std::set<int>& peers) {
  CHECK(rank.step() == 0);
  CHECK(rank.engine().running());
  std::set<int> awaited;
  rank.engine().for_each_awaited([&](int peer) { awaited.insert(peer); });
  CHECK(awaited == peers);
}

// The bytes of a rank's slot of the first epoch that no longer are what they were filled with.
constexpr std::byte kUntouched{0x77};

std::size_t touched(World& world, int rank, std::size_t bytes) {
  const std::byte* const slot = world.rank(rank).transport().window()->slot(rank, 0);
  return static_cast<std::size_t>(std::count_if(slot, slot + bytes, [](std::byte each) { return each != kUntouched; }));
}

std::vector<std::int32_t> counting(std::size_t count) {
  std::vector<std::int32_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int32_t>(i);
  return numbers;
}

// What a rank alone has in its output after a program of 100 numbers in chunks of 16.
std::vector<std::int32_t> run_alone(const Program& program, const std::vector<std::int32_t>& input) {
  Engine engine({.rank = 0, .ranks = 1});
  const Problem problem{.collective = Collective::allreduce, .ranks = 1};
  const Shape shape;
  const CallPlan plan{.problem = &problem,
                      .shape = &shape,
                      .program = &program,
                      .partition = Partition(problem, shape, 100, 16, 16),
                      .element_bytes = 4,
                      .partial_bytes = 4,
                      .unit_bytes = 64,
                      .combine = find_combine(hcommInt32, hcommSum).value()};
  std::vector<std::int32_t> output(input.size(), -1);
  engine.start({.plan = &plan,
                .input = reinterpret_cast<const std::byte*>(input.data()),
                .output = reinterpret_cast<std::byte*>(output.data())});
  CHECK(engine.running());
  CHECK(engine.step() > 0);
  CHECK_FALSE(engine.running());
  CHECK(engine.failure().ok());
  CHECK(engine.step() == 0);
  return output;
}

}  // namespace

TEST_CASE("a rank alone needs no transport") {
  const Problem problem{.collective = Collective::allreduce, .ranks = 1};
  const std::vector<std::int32_t> input = counting(100);
  for (const char* const algorithm : {"flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree"}) {
    INFO(algorithm);
    CHECK(run_alone(write_program(*find_algorithm(algorithm, Collective::allreduce), problem, 0), input) == input);
  }
}

TEST_CASE("the prologue belongs to the first chunk, the epilogue to the last") {
  ProgramBuilder builder({.collective = Collective::allreduce, .ranks = 1}, {}, 0);
  builder.copy(builder.input(0), builder.output(0));
  builder.body();
  builder.epilogue();
  builder.copy(builder.input(0), builder.output(0));
  const std::vector<std::int32_t> input = counting(100);
  std::vector<std::int32_t> expected(100, -1);
  std::copy_n(input.begin(), 16, expected.begin());
  std::copy_n(input.begin() + 96, 4, expected.begin() + 96);
  CHECK(run_alone(std::move(builder).finish(), input) == expected);
}

TEST_CASE("a call without elements has ended when it has begun") {
  World world({.ranks = 3});
  for (const Algorithm* const each : algorithms()) {
    if (each->collective == Collective::barrier) continue;
    INFO(each->name << " " << name(each->collective));
    world.rank(1).begin(make_task(each->name, each->collective, 0));
    CHECK_FALSE(world.rank(1).engine().running());
    CHECK(world.rank(1).step() == 0);
    CHECK(world.rank(1).awaited() == 0);
  }
}

TEST_CASE("flags are awaited one after another, and each rank that came is no longer named") {
  World world({.ranks = 3});
  const Task task = make_task("flat", Collective::allreduce, 100);
  DrivenRank& first = world.rank(0);
  first.begin(task);
  CHECK(first.awaited() == 0);  // it has not asked for anybody yet
  CHECK(first.step() > 0);
  check_waits_for(first, {1});
  world.rank(2).begin(task);
  CHECK(world.rank(2).step() > 0);
  check_waits_for(first, {1});  // rank 2 was not the one
  world.rank(1).begin(task);
  CHECK(world.rank(1).step() > 0);
  CHECK(first.step() > 0);
  CHECK_FALSE(first.engine().running());
  CHECK(first.awaited() == 0);
  CHECK(first.finish() == "");
}

TEST_CASE("messages are awaited together, and each one that ended is no longer named") {
  World world({.ranks = 3});
  const Task task = make_task("ring", Collective::allreduce, 100);
  DrivenRank& first = world.rank(0);
  first.begin(task);
  CHECK(first.step() > 0);
  check_waits_for(first, {1, 2});  // its send to the right, its receives from the left
  world.rank(1).begin(task);
  CHECK(world.rank(1).step() > 0);
  CHECK(world.rank(1).step() > 0);  // takes the message, and passes it on
  CHECK(first.step() > 0);
  check_waits_for(first, {2});
  check_waits_for(world.rank(1), {0, 2});
  world.rank(2).begin(task);
  settle(world, 3);
  for (int rank = 0; rank < 3; ++rank) CHECK(world.rank(rank).finish() == "");
}

TEST_CASE("the end of a chain waits for its left neighbour alone") {
  World world({.ranks = 3});
  const Task task = make_task("ring", Collective::broadcast, 5000);
  for (int rank = 1; rank < 3; ++rank) {
    world.rank(rank).begin(task);
    CHECK(world.rank(rank).step() > 0);
    check_waits_for(world.rank(rank), {rank - 1});
  }
}

TEST_CASE("a writer is as many epochs ahead of its readers as there are slots") {
  for (int slots = 1; slots <= 3; ++slots) {
    for (const bool many_chunks : {false, true}) {
      INFO(slots << " slots, " << (many_chunks ? "chunks of one call" : "calls of one chunk"));
      World world({.ranks = 2, .slots = slots});
      Task task = make_task("flat", Collective::broadcast, many_chunks ? 10 * 16 : 16);
      task.unit_lines = 1;
      DrivenRank& root = world.rank(0);
      DrivenRank& reader = world.rank(1);
      if (many_chunks) {
        root.begin(task);
        root.step();
        check_waits_for(root, {1});
        const Phase last = slots == 1 ? Phase::finished : Phase::filled;
        CHECK(root.transport().window()->steps[0].step.load() == step_value(static_cast<std::uint64_t>(slots - 1), last));
      } else {
        for (int call = 0; call < slots; ++call) {
          root.begin(task);
          root.step();
          REQUIRE_FALSE(root.engine().running());
        }
        root.begin(task);
        root.step();
        check_waits_for(root, {1});
      }
      reader.begin(task);
      reader.step();
      CHECK(root.step() > 0);
      settle(world, 2);
      if (many_chunks) CHECK_FALSE(reader.engine().running());
      if (many_chunks) CHECK(reader.finish() == "");
      CHECK_FALSE(root.engine().running());
    }
  }
}

TEST_CASE("another length on a ring is a mismatch, and the neighbour is to blame") {
  for (const bool shared_memory : {false, true}) {
    const WorldSpec spec{.shared_memory = shared_memory, .ranks = 3};
    INFO(describe(spec));
    World world(spec);
    world.rank(0).begin(make_task("ring", Collective::allreduce, 90));
    world.rank(1).begin(make_task("ring", Collective::allreduce, 100));
    world.rank(2).begin(make_task("ring", Collective::allreduce, 100));
    settle(world, 3);
    for (const int rank : {0, 1}) {
      DrivenRank& failed = world.rank(rank);
      CHECK(failed.engine().failure().code() == hcommMismatch);
      CHECK(failed.engine().culprit() == (rank + 2) % 3);
      CHECK_FALSE(failed.engine().running());
      CHECK(failed.step() == 0);  // it stays failed
      CHECK(failed.awaited() == 0);
    }
    CHECK(world.rank(2).engine().running());
    CHECK((world.rank(2).awaited() & 1u << 1) != 0);  // owes it the rest
  }
}

TEST_CASE("a failed run takes nothing more from its peers") {
  World world({.ranks = 3});
  DrivenRank& first = world.rank(0);
  const BoundCall call = first.bind(make_task("ring", Collective::allreduce, 90));
  first.start(call);
  for (int rank = 1; rank < 3; ++rank) world.rank(rank).begin(make_task("ring", Collective::allreduce, 100));
  for (int turn = 0; turn < 100 && first.engine().running(); ++turn) world.rank(turn % 3).step();
  REQUIRE(first.engine().failure().code() == hcommMismatch);
  const std::vector<std::byte> before(call.output, call.output + 90 * 4);
  for (int turn = 0; turn < 10; ++turn) {
    for (int rank = 1; rank < 3; ++rank) world.rank(rank).step();
    CHECK(first.step() == 0);  // not even its own send is looked after
  }
  CHECK(std::equal(before.begin(), before.end(), call.output));
}

TEST_CASE("an input in a window is read where it lies, another one is staged") {
  for (const bool windowed : {false, true}) {
    INFO((windowed ? "in a window" : "elsewhere"));
    World world({.ranks = 2});
    Task task = make_task("direct", Collective::broadcast, 1000);
    task.windowed = windowed ? 1 : 0;
    std::byte* const slot = world.rank(0).transport().window()->slot(0, 0);
    std::fill_n(slot, 4000, kUntouched);
    for (int rank = 0; rank < 2; ++rank) world.rank(rank).begin(task);
    settle(world, 2);
    CHECK((touched(world, 0, 4000) == 0) == windowed);
    for (int rank = 0; rank < 2; ++rank) CHECK(world.rank(rank).finish() == "");
  }
}

TEST_CASE("a peer's window that is not what it says fails the run, and the peer is to blame") {
  World world({.ranks = 2});
  Task task = make_task("direct", Collective::broadcast, 1000);
  task.windowed = 1;
  BoundCall shown = world.rank(0).bind(task);
  REQUIRE(shown.windowed);
  SECTION("another generation") { ++shown.window.generation; }
  SECTION("a range that ends outside") { shown.window.offset = std::size_t{1} << 40; }
  SECTION("no such file") { shown.window.id = 1'000'000; }
  world.rank(0).start(shown);
  world.rank(0).step();
  world.rank(1).begin(task);
  world.rank(1).step();
  CHECK(world.rank(1).engine().failure().code() == hcommRemoteError);
  CHECK(world.rank(1).engine().culprit() == 0);
  CHECK_FALSE(world.rank(1).engine().running());
}

TEST_CASE("a window is refused where windows were not agreed") {
  World world({.ranks = 2, .maps_windows = false});
  Task task = make_task("direct", Collective::broadcast, 1000);
  task.windowed = 1;
  for (int rank = 0; rank < 2; ++rank) world.rank(rank).begin(task);
  settle(world, 2);
  CHECK(world.rank(1).engine().failure().code() == hcommInternalError);
  CHECK(world.rank(1).engine().culprit() == 0);
}

TEST_CASE("schedules without a window take no epoch") {
  World world({.ranks = 2});
  const std::vector<Task> tasks = {make_task("ring", Collective::allreduce, 1000), make_task("flat", Collective::allreduce, 10),
                                   make_task("ring", Collective::barrier, 0), make_task("flat", Collective::allreduce, 10)};
  CHECK(world.run(tasks) == "");
  CHECK(world.rank(0).transport().window()->steps[0].step.load() == step_value(1, Phase::filled));  // of the second of two epochs
}

}  // namespace hcomm::testing
