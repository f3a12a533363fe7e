// What ranks learn from each other when a communicator is made, done by hand: all ranks in this thread.
#include <catch2/catch.hpp>

#include "comm/communicator.h"
#include "comm/open.h"
#include "transport/local_memory.h"
#include "world.h"

namespace hcomm {
namespace {

struct ByHand {
  std::vector<Window*> windows;  // of the transports, which the communicators own
  std::vector<std::unique_ptr<Communicator>> owned;
  std::vector<Communicator*> all;
};

ByHand make(const std::vector<bool>& can_map, const Settings& settings) {
  ByHand made;
  const auto ranks = static_cast<int>(can_map.size());
  auto transports = open_all("loopback", {.ranks = ranks}, choose_sizes(ranks, settings).value()).value();
  for (int rank = 0; rank < ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    made.windows.push_back(transports[index]->window());
    Membership membership{.rank = rank, .ranks = ranks, .settings = settings, .can_map_peers = can_map[index]};
    membership.transport = std::move(transports[index]);
    membership.transport_name = "loopback";
    made.owned.push_back(std::make_unique<Communicator>(std::move(membership)));
    made.all.push_back(made.owned.back().get());
  }
  return made;
}

void agree(ByHand& world) {
  for (Communicator* const each : world.all) testing::require(each->begin_agreement());
  testing::require(wait_for(world.all));
  for (Communicator* const each : world.all) testing::require(each->finish_agreement());
}

// A broadcast from a window of rank 0. True if rank 0 showed it where it lies.
bool shows_window(const std::vector<bool>& can_map) {
  Settings settings;
  settings.algo = "direct";
  ByHand world = make(can_map, settings);
  agree(world);
  for (std::size_t slot = 0; slot < 2; ++slot) world.windows[0]->record(0, slot) = {};
  constexpr std::size_t kCount = 1000;
  auto* const input = static_cast<std::int32_t*>(allocate_window(kCount * 4).value());
  for (std::size_t i = 0; i < kCount; ++i) input[i] = static_cast<std::int32_t>(i);
  std::vector<std::vector<std::int32_t>> outputs(can_map.size(), std::vector<std::int32_t>(kCount));
  for (std::size_t rank = 0; rank < world.all.size(); ++rank) {
    world.all[rank]->queue({.collective = Collective::broadcast,
                            .send = rank == 0 ? input : nullptr,
                            .recv = outputs[rank].data(),
                            .count = kCount,
                            .dtype = hcommInt32});
  }
  testing::require(wait_for(world.all));
  for (const auto& output : outputs) CHECK(std::equal(output.begin(), output.end(), input));
  const bool shown = world.windows[0]->record(0, 0).window != 0 || world.windows[0]->record(0, 1).window != 0;
  testing::require(free_window(input));
  return shown;
}

}  // namespace

TEST_CASE("windows are shown only if all ranks can map them") {
  CHECK(shows_window({true, true, true}));
  CHECK_FALSE(shows_window({false, true, true}));
  CHECK_FALSE(shows_window({true, true, false}));
}

TEST_CASE("the agreement is no operation of the user's") {
  ByHand world = make({true, true}, {});
  agree(world);
  std::int32_t in[2] = {1, 2};
  std::int32_t out[2] = {};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(world.all[rank]->last_call().algorithm.empty());
    world.all[rank]->queue(
        {.collective = Collective::allreduce, .send = &in[rank], .recv = &out[rank], .count = 1, .dtype = hcommInt32});
  }
  testing::require(wait_for(world.all));
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CHECK(out[rank] == 3);
    CHECK(world.all[rank]->last_call().sequence == 0);
    CHECK(world.all[rank]->last_call().schedule_hash != 0);
  }
}

TEST_CASE("in errors, too, the first call of the user's is operation 0") {
  ByHand world = make({true, true}, {});
  agree(world);
  std::int32_t in[2] = {1, 2};
  std::int32_t out[2] = {};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const hcommRedOp_t op = rank == 0 ? hcommSum : hcommMax;
    world.all[rank]->queue(
        {.collective = Collective::allreduce, .send = &in[rank], .recv = &out[rank], .count = 1, .dtype = hcommInt32, .op = op});
  }
  const Status status = wait_for(world.all);
  CHECK(status.code() == hcommMismatch);
  CHECK_THAT(std::string(status.trail()), Catch::Contains("operation 0 is allreduce(count 1, int32, "));
}

TEST_CASE("a rank alone has nobody to agree with") {
  Communicator alone(Membership{});
  CHECK(alone.begin_agreement().ok());
  CHECK(alone.finish_agreement().ok());
  std::int32_t in = 5, out = 0;
  CHECK(alone.run({.collective = Collective::allreduce, .send = &in, .recv = &out, .count = 1, .dtype = hcommInt32}).ok());
  CHECK(out == 5);
}

}  // namespace hcomm
