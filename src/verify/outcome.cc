#include "verify/outcome.h"

#include <map>

#include "schedule/blocks.h"
#include "verify/race.h"
#include "verify/story.h"

namespace hcomm {
namespace {

Judgement refuse(std::string story) { return {.fault = Fault::contribution, .story = std::move(story)}; }

std::string contribution_story(const Contribution& leaf) {
  return "input[" + std::to_string(leaf.block) + "] of rank " + std::to_string(leaf.rank) + " (call " +
         std::to_string(leaf.call) + ", chunk " + std::to_string(leaf.chunk) + ")";
}

// Why a value is no sum over all ranks; empty if it is one.
std::string sum_fault(const World& world, Value value, const Spot& spot) {
  const auto leaves = world.expressions.contributions(value, world.ranks() + 1);
  std::vector<int> seen(world.ranks());
  for (const Contribution& leaf : leaves) {
    if (leaf.call != spot.call || leaf.chunk != spot.chunk || leaf.block != spot.index) {
      return "contains " + contribution_story(leaf) + ", which does not belong there";
    }
    if (seen[leaf.rank]++ != 0) return "contains the contribution of rank " + std::to_string(leaf.rank) + " twice";
  }
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    if (seen[rank] == 0) return "misses the contribution of rank " + std::to_string(rank);
  }
  if (world.expressions.stage(value) == Stage::raw) return "was not prepared";
  return world.expressions.stage(value) == Stage::finished ? "" : "was not finished";
}

Judgement check_sum(World& world, const Spot& spot) {
  const Value value = spot.cell->value;
  // The first rank that returns sets the expression of each block; the others must have the same.
  Value& agreed = world.agreed_on(spot.call, spot.chunk, spot.index);
  if (agreed == value) return {};
  const auto wrong = [&](const std::string& why) {
    return refuse(spot_story(spot) + " holds " + world.expressions.text(value) + ": it " + why);
  };
  if (const std::string fault = sum_fault(world, value, spot); !fault.empty()) return wrong(fault);
  if (agreed != kUnwritten) {
    return wrong("differs from the expression of another rank, " + world.expressions.text(agreed) +
                  ", so the bits may differ");
  }
  agreed = value;
  return {};
}

Judgement check_move(World& world, const Spot& spot, std::uint32_t source) {
  const Contribution wanted{.rank = source, .call = spot.call, .chunk = spot.chunk, .block = spot.index};
  if (spot.cell->value == world.expressions.raw(wanted)) return {};
  const auto leaves = world.expressions.contributions(spot.cell->value, 1);
  return refuse(spot_story(spot) + " holds " + (leaves.empty() ? "nothing" : contribution_story(leaves[0])) + ", not " +
                contribution_story(wanted));
}

Judgement check_output(World& world, const Spot& spot) {
  const Problem& problem = world.trial.schedule(spot.call).problem;
  if (spot.cell->value == kUnwritten) return refuse(spot_story(spot) + " was never written");
  switch (problem.collective) {
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::reduce:         return check_sum(world, spot);
    case Collective::broadcast:      return check_move(world, spot, static_cast<std::uint32_t>(problem.root));
    case Collective::scatter:        return check_move(world, spot, static_cast<std::uint32_t>(problem.root));
    case Collective::allgather:
    case Collective::gather:         return check_move(world, spot, spot.index);
    case Collective::alltoall:       return check_move(world, spot, spot.index / static_cast<std::uint32_t>(problem.ranks));
    case Collective::barrier:        return {};
  }
  unreachable();
}

Judgement check_barrier(const World& world, const Access& who) {
  const VectorClock& clock = world.clocks[who.rank];
  for (std::uint32_t rank = 0; rank < clock.size(); ++rank) {
    if (clock[rank] >= world.start_times[who.call][rank]) continue;
    return refuse("rank " + std::to_string(who.rank) + " leaves the barrier (call " + std::to_string(who.call) +
                  ") though nothing says that rank " + std::to_string(rank) + " has come");
  }
  return {};
}

template <class Visit>  // Visit: (chunk, block) -> Judgement
Judgement for_each_block(const World& world, const Access& who, Side side, Visit&& visit) {
  const auto chunks = static_cast<std::uint32_t>(world.trial.calls[who.call].chunks);
  const Schedule& schedule = world.trial.schedule(who.call);
  const HeldBlocks held = held_blocks(schedule.problem, schedule.shape.blocks, side, static_cast<int>(who.rank));
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    for (int place = 0; place < held.count; ++place) {
      Judgement judgement = visit(chunk, static_cast<std::uint32_t>(held.at(place)));
      if (!judgement.proved()) return judgement;
    }
  }
  return {};
}

// From here on the caller may do with its buffer what it likes.
Judgement give_back(World& world, const Access& who, const Spot& spot) {
  const auto conflict = note_write(*spot.cell, who, world.clocks[who.rank], world.flights);
  if (!conflict) return {};
  return {.fault = Fault::race,
          .story = race_story(world.trial, spot, conflict->earlier, conflict->earlier_writes, who, true)};
}

}  // namespace

void fill_inputs(World& world, const Access& who) {
  const auto own = [&](std::uint32_t block, const Spot& spot) {
    spot.cell->write = who;
    spot.cell->block = block;
  };
  // Without a value at first: a reader of the output finds it unwritten.
  const Judgement cleared = for_each_block(world, who, Side::output, [&](std::uint32_t chunk, std::uint32_t block) -> Judgement {
    own(block, world.memory.output(who.rank, who.call, chunk, block));
    return {};
  });
  const Judgement filled = for_each_block(world, who, Side::input, [&](std::uint32_t chunk, std::uint32_t block) -> Judgement {
    const Spot spot = world.memory.input(who.rank, who.call, chunk, block);
    own(block, spot);
    spot.cell->value = world.expressions.raw({.rank = who.rank, .call = who.call, .chunk = chunk, .block = block});
    return {};
  });
  HCOMM_ASSERT(cleared.proved() && filled.proved());
}

Judgement take_outputs(World& world, const Access& who) {
  const Problem& problem = world.trial.schedule(who.call).problem;
  if (problem.collective == Collective::barrier) return check_barrier(world, who);
  Judgement judgement = for_each_block(world, who, Side::output, [&](std::uint32_t chunk, std::uint32_t block) {
    return check_output(world, world.memory.output(who.rank, who.call, chunk, block));
  });
  if (!judgement.proved()) return judgement;
  judgement = for_each_block(world, who, Side::output, [&](std::uint32_t chunk, std::uint32_t block) {
    return give_back(world, who, world.memory.output(who.rank, who.call, chunk, block));
  });
  if (!judgement.proved()) return judgement;
  return for_each_block(world, who, Side::input, [&](std::uint32_t chunk, std::uint32_t block) {
    return give_back(world, who, world.memory.input(who.rank, who.call, chunk, block));
  });
}

}  // namespace hcomm
