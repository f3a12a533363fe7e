// Both ends of a doorbell. ring() itself is declared in transport.h.
//
// The sleeper raises `sleeping`, looks at everything, then waits on `word`. The ringer stores what is waited for, then
// loads `sleeping`. In the single order of sequentially consistent operations one of the two comes first: either the
// last look sees the store, or the ringer sees the sleeper and changes the word.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "transport/window.h"

namespace hcomm {

inline constexpr TimeNs kLongestSleep = 100 * kMillisecond;

// The sleeping half of one rank. One thread.
class Sleeper {
 public:
  explicit Sleeper(Doorbell& bell) : bell_(&bell) {}

  void arm();
  // After arm(). False: the time is over and nobody rang.
  bool sleep(TimeNs most);
  void disarm();

 private:
  Doorbell* bell_;  // borrowed
  std::uint32_t seen_ = 0;
};

// Wakes a rank whether it says that it sleeps or not; for news that it does not look for itself, such as a death.
void ring_always(Doorbell& bell);

}  // namespace hcomm
