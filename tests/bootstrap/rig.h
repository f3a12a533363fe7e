// A meeting in one process: a coordinator and ranks as threads.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bootstrap/coordinator.h"
#include "bootstrap/join.h"

namespace hcomm {

// What a rank got, as text and numbers, so that threads need not share a Result.
struct Outcome {
  hcommResult_t code = hcommInternalError;
  std::string text;
  Meeting meeting;
  TimeNs took_ns = 0;
};

struct Served {
  JobId id;
  std::unique_ptr<Coordinator> coordinator;
  std::shared_ptr<std::atomic<int>> segments_made;
  std::shared_ptr<std::atomic<int>> warnings;
};

// A coordinator whose segment is a file in memory with 4096 bytes per rank.
Served serve(CoordinatorOptions options = {});

Outcome join_once(const JobId& id, const JoinOptions& options);
// All at once, each on a thread of its own.
std::vector<Outcome> join_all(const JobId& id, const std::vector<JoinOptions>& options);
// What serves the segments of hosts, until the test ends with it.
class Keeper {
 public:
  void keep(std::unique_ptr<Coordinator> coordinator) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(coordinator));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Coordinator>> kept_;
};

// Where a listener of the tests may be: loopback, any port.
Address loopback(std::uint16_t port = 0);
// For ranks of which rank i is on a host of its own that is named hosts[i], and which share no socket with the coordinator.
std::vector<JoinOptions> team_on_hosts(const std::vector<std::string>& hosts, Keeper& keeper, TimeNs timeout_ns = 20 * kSecond,
                                       std::uint64_t round = 0);

// Ranks 0 to ranks - 1, all alike.
std::vector<JoinOptions> team(int ranks, TimeNs timeout_ns = 20 * kSecond, std::uint64_t round = 0);

// Polls (at most 20 s) until `condition` holds; false if it never does.
template <class Condition>
bool eventually(Condition condition) {
  const MonotonicClock clock;
  const TimeNs end = clock.now() + 20 * kSecond;
  while (!condition()) {
    if (clock.now() > end) return false;
    struct timespec pause {0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

int open_descriptors();
int running_threads();

// The inode of a descriptor's file: two descriptors of one file have the same.
unsigned long inode_of(const Descriptor& descriptor);

}  // namespace hcomm
