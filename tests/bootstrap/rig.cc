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

Result<int> segment_of(int ranks) {
  const int file = memfd_create("test-segment", MFD_CLOEXEC);
  HCOMM_ASSERT(file >= 0 && ftruncate(file, 4096L * ranks) == 0);
  return file;
}

}  // namespace

Served serve(CoordinatorOptions options) {
  Served served;
  served.segments_made = std::make_shared<std::atomic<int>>(0);
  served.warnings = std::make_shared<std::atomic<int>>(0);
  if (!options.make_segment) {
    options.make_segment = [made = served.segments_made](int ranks) -> Result<int> {
      ++*made;
      return segment_of(ranks);
    };
  }
  if (!options.warn) options.warn = [count = served.warnings](std::string_view) { ++*count; };
  Result<JobId> id = make_job_id();
  HCOMM_ASSERT(id.ok());
  served.id = id.value();
  Result<std::unique_ptr<Coordinator>> started = start_coordinator(served.id, std::move(options));
  HCOMM_ASSERT(started.ok());
  served.coordinator = std::move(started).value();
  served.id.at = served.coordinator->addresses();
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

Address loopback(std::uint16_t port) {
  return {.family = Family::inet, .port = port, .bytes = {std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}}};
}

std::vector<JoinOptions> team_on_hosts(const std::vector<std::string>& hosts, Keeper& keeper, TimeNs timeout_ns,
                                       std::uint64_t round) {
  std::vector<JoinOptions> options = team(static_cast<int>(hosts.size()), timeout_ns, round);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    options[rank].host = host_id(hosts[rank]);
    options[rank].host_is_told = true;
    options[rank].listen_at = {loopback()};
    options[rank].make_segment = [ranks = hosts.size()] { return segment_of(static_cast<int>(ranks)); };
    options[rank].keep = [&keeper](std::unique_ptr<Coordinator> coordinator) { keeper.keep(std::move(coordinator)); };
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
