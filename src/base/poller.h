// Whatever is driven by being asked: the contract between things that move and the loops that move them.
//
//   Turns:    poll() does what can be done now, without waiting, and returns how much that was; 0 lets the caller idle.
//   Sleeping: in two steps, so that no wake-up is lost. arm() announces that the caller is about to sleep; the caller looks
//             at everything once more; then it calls sleep(), which returns when there is reason to look again or after
//             `most`, or disarm(), when the last look found something.
//   Threads:  one at a time.
#pragma once

#include "base/clock.h"

namespace hcomm {

class Poller {
 public:
  virtual ~Poller() = default;
  virtual int poll() = 0;
  virtual void arm() = 0;
  virtual void sleep(TimeNs most) = 0;
  virtual void disarm() = 0;
};

}  // namespace hcomm
