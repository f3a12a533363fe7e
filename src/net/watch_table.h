// One epoll, and who is told of what. Inner part of the kernel's network.
//
// An entry is known by a number that is never used again, so that what the system reported for one that has gone in the meantime
// is recognised and dropped. Edge triggered: a watcher is told when its descriptor may have become able to do more.
//
//   Threads:  as Network: one at a time, but for wake() and wait().
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/status.h"
#include "net/network.h"

namespace hcomm {

inline constexpr TimeNs kSilenceBeforeLost = 30 * kSecond;

class WatchTable {
 public:
  using Id = std::uint64_t;

  // After so much silence a host is lost that does not acknowledge what is sent to it.
  explicit WatchTable(TimeNs silence) : silence_(silence) {}

  Status open();

  // The descriptor is the table's until remove() closes it, or somebody else's.
  Result<Id> add(Descriptor descriptor, Watcher& watcher);
  Result<Id> add_foreign(int descriptor, Watcher& watcher);
  void remove(Id id);
  void set_watcher(Id id, Watcher& watcher);
  int descriptor(Id id) const;  // -1 in the child of a fork
  bool lost(Id id) const;       // the other end's host

  // Tells the watcher at that time, whatever the system says.
  void tell_at(Id id, TimeNs time);

  void wait(TimeNs most);
  int dispatch();
  void wake();

  // Closes what is the table's and forgets the rest. In the child of a fork alone: the parent's epoll is not touched.
  void close_all_in_child();

 private:
  struct Slot {
    Watcher* watcher = nullptr;  // null: free
    int descriptor = -1;
    bool owned = false;
    bool lost = false;
    std::uint32_t generation = 0;
  };
  struct Appointment {
    Id id = 0;
    TimeNs time = 0;
  };

  Result<Id> put(int descriptor, bool owned, Watcher& watcher);
  Slot* find(Id id);
  const Slot* find(Id id) const;
  int keep_appointments();
  bool tell(Id id);
  int collect(TimeNs most);
  int tell_of_the_lost();

  static constexpr std::size_t kMostEvents = 64;  // of one turn

  const TimeNs silence_;

  Descriptor epoll_;
  Descriptor wake_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<Appointment> appointments_;
  std::atomic<TimeNs> next_appointment_{kNever};
  std::atomic<bool> woken_{false};
  // Of whoever waits and dispatches.
  std::array<epoll_event, kMostEvents> events_{};
  int collected_ = 0;
  TimeNs next_look_ = 0;  // for the lost
  bool look_is_due_ = false;
};

}  // namespace hcomm
