#include "rig.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>

namespace hcomm {
namespace {

int entries_of(const char* folder) {
  std::filesystem::directory_iterator each(folder);
  return static_cast<int>(std::distance(each, std::filesystem::directory_iterator()));
}

}  // namespace

Served serve(CoordinatorOptions options) {
  Served served;
  served.segments_made = std::make_shared<std::atomic<int>>(0);
  served.warnings = std::make_shared<std::atomic<int>>(0);
  if (!options.make_segment) {
    options.make_segment = [made = served.segments_made](int ranks) -> Result<int> {
      ++*made;
      const int file = memfd_create("test-segment", MFD_CLOEXEC);
      HCOMM_ASSERT(file >= 0 && ftruncate(file, 4096L * ranks) == 0);
      return file;
    };
  }
  if (!options.warn) options.warn = [count = served.warnings](std::string_view) { ++*count; };
  Result<JobId> id = make_job_id();
  HCOMM_ASSERT(id.ok());
  served.id = id.value();
  Result<std::unique_ptr<Coordinator>> started = start_coordinator(served.id, std::move(options));
  HCOMM_ASSERT(started.ok());
  served.coordinator = std::move(started).value();
  return served;
}

Outcome join_once(const JobId& id, const JoinOptions& options) {
  const MonotonicClock clock;
  const TimeNs start = clock.now();
  Outcome outcome;
  Result<Meeting> met = join(id, options);
  outcome.took_ns = clock.now() - start;
  outcome.code = met.status().code();
  outcome.text = std::string(met.status().trail());
  if (met.ok()) outcome.meeting = std::move(met).value();
  return outcome;
}

std::vector<Outcome> join_all(const JobId& id, const std::vector<JoinOptions>& options) {
  std::vector<Outcome> outcomes(options.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < options.size(); ++i) {
    threads.emplace_back([&, i] { outcomes[i] = join_once(id, options[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

std::vector<JoinOptions> team(int ranks, TimeNs timeout_ns, std::uint64_t round) {
  std::vector<JoinOptions> options(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    JoinOptions& own = options[static_cast<std::size_t>(rank)];
    own.rank = rank;
    own.ranks = ranks;
    own.timeout_ns = timeout_ns;
    own.round = round;
  }
  return options;
}

int open_descriptors() { return entries_of("/proc/self/fd"); }
int running_threads() { return entries_of("/proc/self/task"); }

unsigned long inode_of(const Descriptor& descriptor) {
  struct stat facts {};
  return fstat(descriptor.get(), &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace hcomm
