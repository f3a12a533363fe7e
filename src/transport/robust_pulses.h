// The robust futexes of one thread: the kernel releases them, and says so, when that thread ends in whatever way.
//
// The kernel's list runs through nodes in shared memory, which a peer might overwrite. So it is only written here, from a
// private list, and the kernel alone follows it; it checks every address, and that the word holds the thread's id.
#pragma once

#include <linux/futex.h>

#include <cstdint>
#include <vector>

#include "transport/pulse.h"

namespace hcomm {

// Lock it outside. It must stay where it is as long as the thread lives.
class RobustPulses {
 public:
  RobustPulses();

  // Makes this the robust list of the calling thread, in place of the C library's. False if the kernel refuses.
  bool adopt_calling_thread();

  // Takes a free pulse for the thread; false if it is not free. No instant at which a death would go unseen.
  bool take(Pulse& pulse, std::uint32_t thread_id);
  void release(Pulse& pulse);  // the word becomes 0; wakes nobody
  void forget_all();           // in the child of a fork: they are the parent's

 private:
  void relink();

  robust_list_head head_{};
  std::vector<Pulse*> held_;
};

}  // namespace hcomm
