#include "base/clock.h"

#include <time.h>

namespace hcomm {

TimeNs MonotonicClock::now() const {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return TimeNs{time.tv_sec} * kSecond + time.tv_nsec;
}

}  // namespace hcomm
