// What happens in one run, drawn from a seed: how many ranks, what they call, in what weather, and what goes wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/arguments.h"
#include "sim_network.h"

namespace hcomm::simulation {

enum class Mishap : std::uint8_t {
  none,
  mismatch,  // a rank makes another call, or leaves one out
  crash,     // a rank's process ends
  cut,       // the connections of a pair are lost
  pause,     // a rank stands still for a while, and then goes on
  absent,    // a rank never comes to the meeting
};
std::string_view name(Mishap mishap);

struct Scenario {
  std::uint64_t seed = 0;
  int ranks = 2;
  bool meets = true;         // first, over the network; else all know where all listen from the start
  bool is_served_apart = false;  // by a process on a node of its own, which makes the id; else by rank 0
  std::vector<TimeNs> starts_at;  // [rank]
  std::string algorithm;
  Weather weather;
  std::vector<std::vector<CollectiveCall>> calls;  // [rank]: what it calls, one after the other
  Mishap mishap = Mishap::none;
  int victim = 0;
  int other = 1;        // of a cut; `ranks` is the node that serves the meeting
  TimeNs at = 0;        // from the start; crash, pause, and from when on there may be a cut
  TimeNs pause = 0;
};

// `collectives`: calls are of the first so many of kCollectives, as when a kept seed was found.
Scenario draw(std::uint64_t seed, std::size_t collectives = kCollectives.size());
std::string describe(const Scenario& scenario);

}  // namespace hcomm::simulation
