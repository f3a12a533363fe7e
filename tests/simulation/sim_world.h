// A world in one thread: a clock that moves when nothing else can happen now, and a queue of what will happen. Everything random
// in it comes from one seed, so that a run can be told again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/clock.h"
#include "base/random.h"

namespace hcomm::simulation {

class World {
 public:
  explicit World(std::uint64_t seed) : random(seed) {}

  const Clock& clock() const { return clock_; }
  TimeNs now() const { return clock_.now(); }

  // Runs at that time, after what was planned for it before. Never within plan() itself.
  void plan(TimeNs at, std::function<void()> event) { events_.emplace(std::max(at, now()), std::move(event)); }

  // Moves the clock to the next event, if that is not after `end`, and lets it happen. False: there is none.
  bool step(TimeNs end = kNever) {
    if (events_.empty() || events_.begin()->first > end) return false;
    const auto first = events_.begin();
    clock_.advance(first->first - now());
    const std::function<void()> event = std::move(first->second);
    events_.erase(first);
    event();
    return true;
  }

  // Lets everything happen until then; the clock ends there.
  void run_until(TimeNs end) {
    while (step(end)) {
    }
    if (end > now()) clock_.advance(end - now());
  }

  Random random;

 private:
  ManualClock clock_;
  std::multimap<TimeNs, std::function<void()>> events_;
};

}  // namespace hcomm::simulation
