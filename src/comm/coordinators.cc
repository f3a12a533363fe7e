#include "comm/coordinators.h"

#include <pthread.h>

#include <algorithm>
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
  // guarded by mutex
  std::vector<std::unique_ptr<Coordinator>> meetings;
  std::vector<JobId> runs;  // whose meetings are among them, or just being started
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
  served().runs.clear();
  served().mutex.unlock();
}

CoordinatorOptions options_of(const Settings& settings) {
  return {.make_segment = [settings](int ranks) { return make_segment(ranks, settings); },
          .warn = [](std::string_view line) { log(LogLevel::warn, "bootstrap", line); }};
}

Status start(const JobId& job, CoordinatorOptions options) {
  [[maybe_unused]] static const int registered = pthread_atfork(before_fork, after_fork, in_child);
  auto started = start_coordinator(job, std::move(options));
  if (!started.ok()) return std::move(started).status();
  Served& all = served();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.meetings, [](const auto& meeting) { return meeting->finished(); });
  all.meetings.push_back(std::move(started).value());
  return {};
}

// False if the run is there already.
bool claim(const JobId& run) {
  Served& all = served();
  const std::lock_guard lock(all.mutex);
  if (std::ranges::find(all.runs, run) != all.runs.end()) return false;
  all.runs.push_back(run);
  return true;
}

}  // namespace

Status serve_run(const JobId& run, int ranks, const Settings& settings, TimeNs deadline) {
  if (!claim(run)) return {};
  CoordinatorOptions options = options_of(settings);
  options.ranks = ranks;
  options.many_rounds = true;
  options.name_until = deadline;
  Status status = start(run, std::move(options));
  if (status.ok()) return status;
  Served& all = served();
  const std::lock_guard lock(all.mutex);
  std::erase(all.runs, run);
  return std::move(status).during("serving the meeting of this run, as its rank 0");
}

Status serve(const JobId& job, const Settings& settings) { return start(job, options_of(settings)); }

}  // namespace hcomm
