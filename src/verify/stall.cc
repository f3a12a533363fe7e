#include "verify/stall.h"

#include "verify/story.h"

namespace hcomm {
namespace {

constexpr std::size_t kMostLines = 12;

bool has_returned(const World& world, const Runner& runner) { return runner.call == world.trial.calls.size(); }

// The one rank that this one waits for.
std::uint32_t awaited(const World& world, const Runner& runner) {
  if (runner.waits_for_flight != kNoFlight) return world.flights[runner.waits_for_flight].peer;
  const Program& program = world.trial.schedule(runner.call).programs[runner.rank];
  return static_cast<std::uint32_t>(program.ops[runner.op].peer);
}

std::string wait_story(const World& world, const Runner& runner) {
  if (runner.waits_for_flight != kNoFlight) {
    const Flight& flight = world.flights[runner.waits_for_flight];
    return op_story(world.trial, flight.who) + " waits until rank " + std::to_string(flight.peer) +
           (flight.is_send ? " receives it" : " sends it");
  }
  const Access who{.rank = runner.rank, .op = runner.op, .call = runner.call, .chunk = runner.chunk};
  return op_story(world.trial, who) + " waits until rank " + std::to_string(awaited(world, runner)) + " signals that";
}

std::string list_story(const World& world, const std::vector<Runner>& runners, std::span<const std::uint32_t> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kMostLines; ++i) {
    text += (i == 0 ? "" : "; ") + wait_story(world, runners[ranks[i]]);
  }
  if (ranks.size() > kMostLines) text += "; and " + std::to_string(ranks.size() - kMostLines) + " more";
  return text;
}

}  // namespace

Judgement judge_stall(const World& world, const std::vector<Runner>& runners) {
  const auto first = std::ranges::find_if(runners, [&](const Runner& runner) { return !has_returned(world, runner); });
  if (first == runners.end()) return {};
  std::vector<std::uint32_t> chain;  // each waits for the next
  std::vector<bool> seen(runners.size());
  std::uint32_t rank = first->rank;
  while (!has_returned(world, runners[rank]) && !seen[rank]) {
    seen[rank] = true;
    chain.push_back(rank);
    rank = awaited(world, runners[rank]);
  }
  if (!has_returned(world, runners[rank])) {
    const std::span<const std::uint32_t> cycle(std::ranges::find(chain, rank), chain.end());
    return {.fault = Fault::deadlock, .story = "deadlock: " + list_story(world, runners, cycle) + ": a cycle"};
  }
  const std::span<const std::uint32_t> last = std::span(chain).last(1);
  const bool is_message = runners[last[0]].waits_for_flight != kNoFlight;
  return {.fault = is_message ? Fault::matching : Fault::deadlock,
          .story = list_story(world, runners, last) + ", but rank " + std::to_string(rank) + " never does: it has returned"};
}

}  // namespace hcomm
