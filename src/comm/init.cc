#include "comm/init.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "base/log.h"
#include "bootstrap/coordinator.h"
#include "bootstrap/join.h"
#include "bootstrap/launch.h"
#include "comm/coordinators.h"
#include "comm/core_use.h"
#include "comm/drivers.h"
#include "comm/meet.h"
#include "comm/open.h"
#include "comm/reach.h"
#include "comm/stores.h"
#include "transport/peer_windows.h"
#include "transport/segment.h"

namespace hcomm {
namespace {

Result<KnobReading> read_process_knobs(int rank) {
  Result<KnobReading> reading = read_knobs(process_sources());
  if (!reading.ok()) return std::move(reading).status();
  configure_log(reading.value().settings.debug, reading.value().settings.debug_file, rank);
  for (const std::string& warning : reading.value().warnings) log(LogLevel::warn, "knobs", warning);
  return reading;
}

Status check_membership(int rank, int ranks, int most) {
  if (ranks < 1 || ranks > most) {
    return Status::failure(hcommInvalidArgument,
                           "size " + std::to_string(ranks) + " is not in the range 1 to " + std::to_string(most));
  }
  if (rank < 0 || rank >= ranks) {
    return Status::failure(hcommInvalidArgument,
                           "rank " + std::to_string(rank) + " is not in the range 0 to " + std::to_string(ranks - 1));
  }
  return {};
}

// Names that only plan and transport know.
Status check_names(const Settings& settings) {
  for (const Collective collective : kCollectives) {
    if (auto requested = requested_algorithm(settings.algo, collective); !requested.ok()) return std::move(requested).status();
  }
  if (auto kernel = find_combine(hcommInt32, hcommSum, settings.kernels); !kernel.ok()) {
    return std::move(kernel).status().during("reading HCOMM_KERNELS");
  }
  return choose_transport(settings, false).status();
}

Result<std::unique_ptr<Communicator>> agreed(std::unique_ptr<Communicator> made) {
  if (Status status = made->begin_agreement(); !status.ok()) return status;
  Communicator* const self = made.get();
  if (Status status = wait_for({&self, 1}); !status.ok()) return std::move(status).during("meeting the other ranks");
  if (Status status = made->finish_agreement(); !status.ok()) return status;
  return made;
}

std::vector<int> pids_of(const Meeting& meeting) {
  std::vector<int> pids;
  for (const Member& member : meeting.members) pids.push_back(member.facts.pid);
  return pids;
}

std::vector<CoreUse> core_uses_of(const Meeting& meeting) {
  std::vector<CoreUse> uses;
  for (const Member& member : meeting.members) uses.push_back(member.facts.cores);
  return uses;
}

// As rank 0 says; another version of it may know ways that this one does not.
Store store_of(const Meeting& meeting) {
  const int said = meeting.members.front().facts.store;
  for (const Store store : {Store::non_temporal, Store::rep_movsb}) {
    if (said == static_cast<int>(store)) return store;
  }
  return Store::regular;
}

bool can_map(const Meeting& meeting) {
  std::vector<PeerProcess> peers;
  for (const Member& member : meeting.members) peers.push_back({member.facts.pid, member.facts.pid_namespace});
  return can_map_peers(peers);
}

// Where the time of a meeting went; what join() does not account for counts as preparation.
InitTimes times_of(const MeetingTimes& met, TimeNs before, TimeNs meeting) {
  InitTimes times{.gather_ns = met.arrived_ns, .table_ns = met.table_ns, .segment_ns = met.segment_ns};
  times.prepare_ns = before + meeting - met.arrived_ns - met.table_ns - met.segment_ns;
  return times;
}

// `began` is when the caller's call did.
Result<std::unique_ptr<Communicator>> join_job(Appointment appointment, const KnobReading& knobs, TimeNs began) {
  const MonotonicClock clock;
  const auto [rank, ranks] = std::pair(appointment.rank, appointment.ranks);
  const Settings& settings = knobs.settings;
  Result<std::string_view> transport = choose_transport(settings, true);
  if (!transport.ok()) return std::move(transport).status();
  Result<Sizes> sizes = choose_sizes(ranks, settings);
  if (!sizes.ok()) return std::move(sizes).status();
  Result<OpenHub> hub = hub_for(appointment, transport.value(), settings);
  if (!hub.ok()) return std::move(hub).status();
  appointment.addresses = hub.value().addresses;
  const TimeNs came = clock.now();
  Result<Meeting> meeting = meet(appointment, knobs);
  if (!meeting.ok()) return std::move(meeting).status();
  const Meeting& met = meeting.value();
  const TimeNs left = clock.now();
  InitTimes times = times_of(met.times, came - began, left - came);
  const Ways ways = ways_of(met, transport.value() != "tcp");
  if (!ways.are_memory_alone()) {
    if (Status status = reach_others(hub.value(), met, ways, rank); !status.ok()) return status;
  }
  Result<std::unique_ptr<Transport>> opened = open_one({.segment_fd = met.segment.get(),
                                                        .context = static_cast<int>(met.context),
                                                        .rank = rank,
                                                        .ways = ways,
                                                        .pids = pids_of(met),
                                                        .hub = ways.are_memory_alone() ? nullptr : hub.value().hub},
                                                       sizes.value());
  if (!opened.ok()) return std::move(opened).status();
  auto made = std::make_unique<Communicator>(Membership{.rank = rank,
                                                        .ranks = ranks,
                                                        .settings = settings,
                                                        .transport = std::move(opened).value(),
                                                        .transport_name = ways.transport_name(),
                                                        .can_map_peers = can_map(met),
                                                        .layout = ways.layout,
                                                        .cores = core_uses_of(met),
                                                        .kin = derive(appointment.job.secret, "kin"),
                                                        .store = store_of(met)});
  const TimeNs open = clock.now();
  Result<std::unique_ptr<Communicator>> agreed_on = agreed(std::move(made));
  if (!agreed_on.ok()) return agreed_on;
  const TimeNs end = clock.now();
  times.transport_ns = open - left;
  times.agree_ns = end - open;
  times.whole_ns = end - began;
  agreed_on.value()->set_init_times(times);
  return agreed_on;
}

}  // namespace

Result<std::unique_ptr<Communicator>> init_alone(const Settings& settings) {
  return std::make_unique<Communicator>(
      Membership{.rank = 0, .ranks = 1, .settings = settings, .transport = nullptr, .transport_name = "self"});
}

Result<std::vector<std::unique_ptr<Communicator>>> init_all(int ranks) {
  Result<KnobReading> knobs = read_process_knobs(0);
  if (!knobs.ok()) return std::move(knobs).status();
  return init_all(ranks, knobs.value().settings);
}

Result<std::vector<std::unique_ptr<Communicator>>> init_all(int ranks, const Settings& settings) {
  return init_all(ranks, settings, {});
}

Result<std::vector<std::unique_ptr<Communicator>>> init_all(int ranks, const Settings& settings, std::vector<int> hosts) {
  if (Status status = check_membership(0, ranks, kMaxInitAllRanks); !status.ok()) return status;
  if (Status status = check_names(settings); !status.ok()) return status;
  Result<std::string_view> transport = choose_transport(settings, false);
  Result<Sizes> sizes = choose_sizes(ranks, settings);
  if (!sizes.ok()) return std::move(sizes).status();
  std::vector<std::unique_ptr<Communicator>> made;
  if (ranks == 1) {
    Result<std::unique_ptr<Communicator>> one = init_alone(settings);
    made.push_back(std::move(one).value());
    return made;
  }
  const Ways ways{.ranks = ranks, .layout = {std::move(hosts)}, .shares_memory = transport.value() != "tcp"};
  auto opened = open_all(transport.value(), ways, sizes.value());
  if (!opened.ok()) return std::move(opened).status();
  const PeerProcess self{static_cast<int>(getpid()), own_pid_namespace()};
  const bool can_map = can_map_peers({&self, 1});
  const std::vector<CoreUse> cores(static_cast<std::size_t>(ranks), own_core_use());
  std::vector<Communicator*> all;
  for (int rank = 0; rank < ranks; ++rank) {
    Membership membership{.rank = rank,
                          .ranks = ranks,
                          .settings = settings,
                          .transport = std::move(opened.value()[static_cast<std::size_t>(rank)]),
                          .transport_name = ways.are_memory_alone() ? transport.value() : ways.transport_name(),
                          .can_map_peers = can_map,
                          .layout = ways.layout,
                          .cores = cores,
                          .store = best_shared_store()};
    made.push_back(std::make_unique<Communicator>(std::move(membership)));
    all.push_back(made.back().get());
    if (Status status = all.back()->begin_agreement(); !status.ok()) return status;
  }
  if (Status status = wait_for(all); !status.ok()) return status;
  auto seats = make_seats(ranks);
  for (Communicator* const each : all) {
    if (Status status = each->finish_agreement(); !status.ok()) return status;
    each->sit_down(std::move(seats[static_cast<std::size_t>(each->rank())]));
  }
  return made;
}

Status make_unique_id(hcommUniqueId& id) {
  Result<KnobReading> knobs = read_process_knobs(0);
  if (!knobs.ok()) return std::move(knobs).status();
  return make_unique_id(id, knobs.value().settings);
}

Status make_unique_id(hcommUniqueId& id, const Settings& settings) {
  Result<JobId> job = make_job_id();
  if (!job.ok()) return std::move(job).status();
  if (Status status = serve(job.value(), settings); !status.ok()) return status;
  const JobIdBytes bytes = to_bytes(job.value());
  static_assert(sizeof bytes == sizeof id.internal);
  std::memcpy(id.internal, bytes.data(), bytes.size());
  return {};
}

namespace {

Result<std::unique_ptr<Communicator>> init_rank_with(int ranks, const hcommUniqueId& id, int rank, const KnobReading& knobs) {
  const TimeNs began = MonotonicClock().now();
  if (Status status = check_membership(rank, ranks, kMaxShmRanks); !status.ok()) return status;
  if (Status status = check_names(knobs.settings); !status.ok()) return status;
  Result<JobId> job = job_id_from_bytes(std::as_bytes(std::span(id.internal)));
  if (!job.ok()) return std::move(job).status();
  if (ranks > 1) return join_job({.job = job.value(), .rank = rank, .ranks = ranks, .addresses = {}}, knobs, began);
  // Nobody else will come, but the meeting spends the id and ends its service.
  Result<Meeting> meeting = join(
      job.value(), {.timeout_ns = knobs.settings.connect_timeout_ns, .agreement = agreement_text(knobs), .progress = {}});
  if (!meeting.ok()) return std::move(meeting).status();
  return init_alone(knobs.settings);
}

}  // namespace

Result<std::unique_ptr<Communicator>> init_rank(int ranks, const hcommUniqueId& id, int rank) {
  Result<KnobReading> knobs = read_process_knobs(rank);
  if (!knobs.ok()) return std::move(knobs).status();
  return init_rank_with(ranks, id, rank, knobs.value());
}

Result<std::unique_ptr<Communicator>> init_rank(int ranks, const hcommUniqueId& id, int rank, const Settings& settings) {
  return init_rank_with(ranks, id, rank, {.settings = settings, .values = {}, .warnings = {}});
}

namespace {

Result<std::unique_ptr<Communicator>> join_run(const Launch& launch, const KnobReading& knobs, TimeNs began) {
  Result<JobId> job = launch.one_host ? Result<JobId>(launch.job) : id_between_hosts(launch, knobs.settings);
  if (!job.ok()) return std::move(job).status();
  const TimeNs deadline = add_saturated(MonotonicClock().now(), knobs.settings.connect_timeout_ns);
  if (launch.serves) {
    if (Status status = serve_run(job.value(), launch.ranks, knobs.settings, deadline); !status.ok()) return status;
  }
  static std::atomic<std::uint64_t> round{0};  // the how-manyth communicator of the launcher's job this is
  return join_job({.job = job.value(),
                   .rank = launch.rank,
                   .ranks = launch.ranks,
                   .round = round++,
                   .many_rounds = true,
                   .server = launch.named_by == kJobVariable ? Absent::is_an_error : Absent::may_come,
                   .addresses = {}},
                  knobs, began);
}

}  // namespace

Result<std::unique_ptr<Communicator>> init_env() {
  const TimeNs began = MonotonicClock().now();
  Detection detection = detect();
  if (!detection.launch.ok()) return std::move(detection.launch).status();
  const Launch& launch = detection.launch.value();
  if (Status status = check_membership(launch.rank, launch.ranks, kMaxShmRanks); !status.ok()) return status;
  Result<KnobReading> knobs = read_process_knobs(launch.rank);
  if (!knobs.ok()) return std::move(knobs).status();
  for (const std::string& remark : detection.remarks) log(LogLevel::info, "bootstrap", remark);
  if (Status status = check_names(knobs.value().settings); !status.ok()) return status;
  if (launch.ranks == 1) return init_alone(knobs.value().settings);
  Result<std::unique_ptr<Communicator>> made = join_run(launch, knobs.value(), began);
  if (made.ok()) return made;
  return std::move(made).status().during("joining as rank " + std::to_string(launch.rank) + " of " +
                                         std::to_string(launch.ranks) + ", as " + launch.launcher + " says (" + launch.by + ")");
}

}  // namespace hcomm
