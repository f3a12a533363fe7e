#include "scenario.h"

#include <algorithm>
#include <array>
#include <span>

#include "algos/algorithm.h"
#include "base/assert.h"

namespace hcomm::simulation {
namespace {

constexpr std::array kTypes = {hcommInt32, hcommInt64, hcommFloat32, hcommFloat64, hcommBfloat16};
constexpr std::array kOps = {hcommSum, hcommMin, hcommMax};

template <class List>
auto one_of(Random& random, const List& list) {
  return list[random.below(list.size())];
}

// From nothing to some 8,000, small ones more often.
std::size_t draw_count(Random& random) {
  if (random.below(8) == 0) return 0;
  return 1 + random.below(std::uint64_t{1} << random.below(14));
}

CollectiveCall draw_call(Random& random, int ranks, std::size_t collectives) {
  CollectiveCall call;
  call.collective = one_of(random, std::span(kCollectives).first(collectives));
  call.dtype = one_of(random, kTypes);
  if (reduces(call.collective)) call.op = one_of(random, kOps);
  if (has_root(call.collective)) call.root = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  if (call.collective != Collective::barrier) call.count = draw_count(random);
  return call;
}

// Names of algorithms that need no window, and none. A name for all leaves adaptive what its algorithm is not written for; at
// first the names were only those of algorithms that are written for all.
std::vector<std::string> algorithms_over_channels(int ranks, std::size_t collectives) {
  std::vector<std::string> names = {"adaptive"};
  for (const Algorithm* const each : algorithms()) {
    std::size_t served = 0;
    bool uses_channels = true;
    for (const Algorithm* const other : algorithms()) {
      if (other->name != each->name) continue;
      const Problem problem{.collective = other->collective, .ranks = ranks};
      uses_channels = uses_channels && other->supports(problem) && !uses_window(other->shape(problem));
      served += std::ranges::count(std::span(kCollectives).first(collectives), other->collective);
    }
    const bool is_legal = uses_channels && (collectives == kCollectives.size() || served == collectives);
    if (is_legal && std::ranges::find(names, each->name) == names.end()) names.emplace_back(each->name);
  }
  return names;
}

// Makes one call of the victim another one, in one of the ways in which programs go wrong.
void disturb(Scenario& scenario, Random& random) {
  auto& calls = scenario.calls[static_cast<std::size_t>(scenario.victim)];
  const std::size_t which = random.below(calls.size());
  CollectiveCall& call = calls[which];
  const CollectiveCall before = call;
  switch (random.below(6)) {
    case 0:
      call.count += 1 + random.below(3);
      break;
    case 1:
      call.dtype = one_of(random, kTypes);
      break;
    case 2:
      if (reduces(call.collective)) call.op = one_of(random, kOps);
      break;
    case 3:
      if (has_root(call.collective)) call.root = (call.root + 1) % scenario.ranks;
      break;
    case 4:
      if (which + 1 < calls.size()) std::swap(calls[which], calls[which + 1]);
      break;
    case 5:
      calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(which));
      return;
  }
  if (call.collective == Collective::barrier) call = before;
}

}  // namespace

std::string_view name(Mishap mishap) {
  switch (mishap) {
    case Mishap::none:     return "nothing";
    case Mishap::mismatch: return "mismatch";
    case Mishap::crash:    return "crash";
    case Mishap::cut:      return "cut";
    case Mishap::pause:    return "pause";
    case Mishap::absent:   return "absence";
  }
  unreachable();
}

Scenario draw(std::uint64_t seed, std::size_t collectives) {
  Random random(seed);
  Scenario scenario{.seed = seed, .starts_at = {}, .algorithm = {}, .weather = {}, .calls = {}};
  scenario.ranks = 2 + static_cast<int>(random.below(6));
  scenario.algorithm = one_of(random, algorithms_over_channels(scenario.ranks, collectives));
  scenario.weather.most_delay = kMillisecond << random.below(6);
  scenario.weather.buffer_bytes = std::size_t{1024} << random.below(8);
  scenario.weather.split_percent = static_cast<int>(random.below(101));
  std::vector<CollectiveCall> program;
  const std::size_t length = 1 + random.below(8);
  while (program.size() < length) program.push_back(draw_call(random, scenario.ranks, collectives));
  scenario.calls.assign(static_cast<std::size_t>(scenario.ranks), program);
  const auto rank = [&] { return static_cast<int>(random.below(static_cast<std::uint64_t>(scenario.ranks))); };
  scenario.victim = rank();
  const auto distance = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(scenario.ranks - 1)));
  scenario.other = (scenario.victim + distance) % scenario.ranks;
  scenario.at = static_cast<TimeNs>(random.below(static_cast<std::uint64_t>(20 * scenario.weather.most_delay)));
  scenario.pause = static_cast<TimeNs>(random.below(static_cast<std::uint64_t>(20 * kSecond)));
  constexpr std::array kMishaps = {Mishap::none, Mishap::none,  Mishap::mismatch, Mishap::mismatch,
                                   Mishap::crash, Mishap::crash, Mishap::cut,      Mishap::pause};
  scenario.mishap = one_of(random, kMishaps);
  if (scenario.mishap == Mishap::mismatch) disturb(scenario, random);
  if (scenario.mishap == Mishap::none && random.below(6) == 0) scenario.mishap = Mishap::absent;
  scenario.is_served_apart = random.below(2) == 0;
  if (scenario.is_served_apart && random.below(4) == 0) scenario.other = scenario.ranks;
  for (int i = 0; i < scenario.ranks; ++i) {
    const auto longest = static_cast<std::uint64_t>(random.below(4) == 0 ? 10 * scenario.weather.most_delay : kMicrosecond);
    scenario.starts_at.push_back(static_cast<TimeNs>(random.below(longest)));
  }
  return scenario;
}

std::string describe(const Scenario& scenario) {
  std::string text = "seed " + std::to_string(scenario.seed) + ": " + std::to_string(scenario.ranks) + " ranks, " +
                     scenario.algorithm + ", " + std::string(name(scenario.mishap)) + " of rank " +
                     std::to_string(scenario.victim);
  if (scenario.mishap == Mishap::cut) {
    text += scenario.other == scenario.ranks ? " and the server" : " and rank " + std::to_string(scenario.other);
  }
  if (scenario.meets && scenario.is_served_apart) text += ", served apart,";
  return text + " at " + std::to_string(scenario.at / kMicrosecond) + " us";
}

}  // namespace hcomm::simulation
