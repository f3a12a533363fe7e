#include "comm/coordinators.h"

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/log.h"
#include "comm/meet.h"
#include "comm/open.h"

namespace hcomm {
namespace {

struct Served {
  std::mutex mutex;
  // guarded by mutex
  std::vector<std::unique_ptr<Coordinator>> meetings;
  std::vector<JobId> runs;  // whose meetings are among them, or just being started
  std::vector<std::pair<JobId, Descriptor>> segments;  // of this host, in jobs that meet again
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
  served().segments.clear();
  served().mutex.unlock();
}

CoordinatorOptions options_of(const Settings& settings) {
  return {.make_segment = [settings](int ranks) { return make_segment(ranks, settings); },
          .warn = [](std::string_view line) { log(LogLevel::warn, "bootstrap", line); }};
}

void prepare_for_forks() { [[maybe_unused]] static const int registered = pthread_atfork(before_fork, after_fork, in_child); }

// Where it is to be found over the network.
Result<std::vector<Address>> start(const JobId& job, CoordinatorOptions options) {
  prepare_for_forks();
  auto started = start_coordinator(job, std::move(options));
  if (!started.ok()) return std::move(started).status();
  std::vector<Address> addresses = started.value()->addresses();
  keep_serving(std::move(started).value());
  return addresses;
}

// HCOMM_TRANSPORT names it, or names others that are not wanted, or nothing.
bool may_use_tcp(const Settings& settings, bool& asked_for) {
  std::string_view names = settings.transport;
  const bool excludes = names.empty() || names.starts_with('^');
  if (names.starts_with('^')) names.remove_prefix(1);
  bool named = false;
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), one.size() + 1));
    named = named || one == "tcp";
  }
  asked_for = named && !excludes;
  return named != excludes;
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
  Status status;
  if (!run.at.empty()) {
    Result<std::vector<Address>> places = places_of(run.at, settings);
    if (places.ok()) options.listen_at = std::move(places).value();
    else status = std::move(places).status();
  }
  if (status.ok()) status = start(run, std::move(options)).status();
  if (status.ok()) return status;
  Served& all = served();
  const std::lock_guard lock(all.mutex);
  std::erase(all.runs, run);
  return std::move(status).during("serving the meeting of this run, as its rank 0");
}

Status serve(JobId& job, const Settings& settings) {
  job.host = host_of(settings);
  bool asked_for = false;
  if (may_use_tcp(settings, asked_for)) {
    CoordinatorOptions options = options_of(settings);
    Result<std::vector<Address>> places = places_to_listen(settings, kMaxJobAddresses);
    if (!places.ok() && (asked_for || !settings.socket_ifname.empty())) return std::move(places).status();
    if (places.ok()) options.listen_at = std::move(places).value();
    options.ports = settings.port_range;
    Result<std::vector<Address>> addresses = start(job, std::move(options));
    if (addresses.ok()) job.at = std::move(addresses).value();
    if (addresses.ok() || asked_for || !settings.port_range.automatic()) return std::move(addresses).status();
    log(LogLevel::info, "bootstrap", "ranks of other hosts cannot use the new id: " + std::string(addresses.status().trail()));
  }
  return start(job, options_of(settings)).status();
}

void keep_serving(std::unique_ptr<Coordinator> coordinator) {
  prepare_for_forks();
  Served& all = served();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.meetings, [](const auto& meeting) { return meeting->finished(); });
  all.meetings.push_back(std::move(coordinator));
}

Result<int> segment_of_host(const JobId& job, int ranks, const Settings& settings, bool again) {
  if (!again) return make_segment(ranks, settings);
  prepare_for_forks();
  Served& all = served();
  const std::lock_guard lock(all.mutex);
  auto found = std::ranges::find(all.segments, job, &std::pair<JobId, Descriptor>::first);
  if (found == all.segments.end()) {
    Result<int> made = make_segment(ranks, settings);
    if (!made.ok()) return made;
    found = all.segments.emplace(all.segments.end(), job, Descriptor(made.value()));
  }
  const int copy = fcntl(found->second.get(), F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return Status::failure(hcommSystemError, "no free descriptor (raise the limit with ulimit -n)");
  return copy;
}

}  // namespace hcomm
