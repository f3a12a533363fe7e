#include "comm/coordinators.h"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "bootstrap/coordinator.h"
#include "comm/open.h"

namespace hcomm {
namespace {

struct Served {
  std::mutex mutex;
  std::vector<std::unique_ptr<Coordinator>> meetings;  // guarded by mutex
};

// Never destroyed: a meeting may still be served while the process exits.
Served& served() {
  static Served* const all = new Served;
  return *all;
}

void before_fork() { served().mutex.lock(); }
void after_fork() { served().mutex.unlock(); }
void in_child() {
  for (auto& meeting : served().meetings) {
    meeting->abandon_in_child();
    static_cast<void>(meeting.release());
  }
  served().meetings.clear();
  served().mutex.unlock();
}

}  // namespace

Status serve(const JobId& job, const Settings& settings) {
  [[maybe_unused]] static const int registered = pthread_atfork(before_fork, after_fork, in_child);
  auto started = start_coordinator(job, {.make_segment = [settings](int ranks) { return make_segment(ranks, settings); },
                                         .warn = [](std::string_view line) { log(LogLevel::warn, "bootstrap", line); }});
  if (!started.ok()) return std::move(started).status();
  Served& all = served();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.meetings, [](const auto& meeting) { return meeting->finished(); });
  all.meetings.push_back(std::move(started).value());
  return {};
}

}  // namespace hcomm
