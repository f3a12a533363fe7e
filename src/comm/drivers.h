// Which thread drives which rank, where one process has several (init-all).
//
// One thread that makes blocking calls on several ranks outside a group waits in the first one for ever, for a rank that only it
// could move. So a rank belongs to the thread that made it until another thread calls on it, and a blocking call of a
// thread that still owns other ranks is held back, before it changes anything, until somebody has taken them over,
// and refused when nobody does.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace hcomm {

// One rank's seat. Any thread may call; bounded.
class DriverSeat {
 public:
  virtual ~DriverSeat() = default;
  // This thread drives the rank now. One load when it did so before.
  virtual void take() = 0;
  // InvalidUsage if this thread drives other ranks, too, and nobody took them over within `patience`.
  virtual Status await_others(TimeNs patience) = 0;
};

// Seats for ranks 0 .. ranks - 1, all owned by the calling thread.
std::vector<std::unique_ptr<DriverSeat>> make_seats(int ranks);

}  // namespace hcomm
