// A transport of moods around another one, for tests: what may take time takes longer, what may be refused is refused. It
// changes no byte and no order, so whatever works on a transport must work on a moody one. The same seed and calls, the same
// moods.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "transport/transport.h"

namespace hcomm {

// Chances in percent.
struct FaultPlan {
  std::string_view name = "none";
  int hold = 0;        // a post, or the news of its end, is held back ...
  int most_turns = 0;  // ... for 1 to so many polls
  int refuse = 0;      // a poll does nothing
  int split = 0;       // each part of a message is cut in two
  int wake = 0;        // a sleep ends at once

  static constexpr FaultPlan none() { return {}; }
  static constexpr FaultPlan delays() { return {.name = "delays", .hold = 60, .most_turns = 12, .wake = 20}; }
  static constexpr FaultPlan busy() {
    return {.name = "busy", .hold = 10, .most_turns = 3, .refuse = 60, .split = 70, .wake = 50};
  }
};

std::unique_ptr<Transport> make_faulty(std::unique_ptr<Transport> inner, FaultPlan plan, std::uint64_t seed);

}  // namespace hcomm
