#include "comm/open.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/descriptor.h"
#include "comm/hubs.h"
#include "comm/stores.h"
#include "schedule/problem.h"
#include "transport/loopback.h"
#include "transport/mesh.h"
#include "transport/shm.h"
#include "transport/table.h"

namespace hcomm {
namespace {

constexpr int kDefaultSlots = 2;
constexpr std::size_t kStagingBytes = std::size_t{32} << 20;  // of all ranks and slots together
constexpr std::size_t kSmallestSlot = std::size_t{64} << 10;
constexpr std::size_t kLargestSlot = std::size_t{1} << 20;
constexpr std::size_t kUnitMinimum = 2 * kCacheLineBytes;  // room for a block of any type, also in the partial format
constexpr std::size_t kRingBytes = std::size_t{256} << 10;
constexpr std::size_t kRingBytesOfMany = std::size_t{64} << 10;
constexpr int kMany = 16;  // ranks

std::string legal_names() {
  std::string names;
  for (const TransportRecord& each : transports()) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

// The names of "shm,loopback" or "^shm", in order.
Result<std::vector<std::string_view>> parse_list(std::string_view text) {
  std::vector<std::string_view> names;
  if (text.starts_with('^')) text.remove_prefix(1);
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if (find_transport(one) == nullptr) {
      return Status::failure(hcommInvalidArgument,
                             "HCOMM_TRANSPORT: no transport is named '" + std::string(one) + "'; legal are " + legal_names());
    }
    names.push_back(one);
  }
  return names;
}

std::vector<bool> here_of(const Ways& ways, int rank) {
  std::vector<bool> here;
  for (int peer = 0; peer < ways.ranks; ++peer) here.push_back(ways.layout.host(peer) == ways.layout.host(rank));
  return here;
}

Result<std::unique_ptr<ShmTransport>> open_memory(const Place& place, const Sizes& sizes) {
  // HCOMM_HOST_ID makes several hosts of one, which may have one segment: each has an area of its own in it.
  const int area = place.context * place.ways.layout.hosts() + place.ways.layout.host(place.rank);
  return open_shm({.segment_fd = place.segment_fd,
                   .context = area,
                   .rank = place.rank,
                   .ranks = place.ways.ranks,
                   .slots = sizes.slots,
                   .slot_bytes = sizes.slot_bytes,
                   .ring_bytes = sizes.ring_bytes,
                   .copy_out = copy_shared,
                   .here = here_of(place.ways, place.rank)});
}

// What ranks of one process need that are to meet over TCP: a job of their own.
Result<std::vector<SharedHub>> open_hubs(int ranks) {
  Result<JobId> job = make_job_id();
  if (!job.ok()) return std::move(job).status();
  Settings settings;
  settings.socket_ifname = "=lo";
  std::vector<SharedHub> hubs;
  std::vector<std::vector<Address>> all;
  for (int rank = 0; rank < ranks; ++rank) {
    Result<OpenHub> one = open_hub(job.value(), rank, ranks, settings);
    if (!one.ok()) return std::move(one).status();
    all.push_back(one.value().addresses);
    hubs.push_back(std::move(one.value().hub));
  }
  for (const auto& hub : hubs) hub->set_peers(all);
  return hubs;
}

Result<std::vector<std::unique_ptr<Transport>>> open_places(const Ways& ways, const Sizes& sizes) {
  const int ranks = ways.ranks;
  std::vector<SharedHub> hubs(static_cast<std::size_t>(ranks));
  if (!ways.are_memory_alone()) {
    Result<std::vector<SharedHub>> opened = open_hubs(ranks);
    if (!opened.ok()) return std::move(opened).status();
    hubs = std::move(opened).value();
  }
  Descriptor segment;
  if (ways.shares_memory) {
    Result<int> made =
        create_segment(shm_segment_bytes(ranks, sizes.slots, sizes.slot_bytes, sizes.ring_bytes, ways.layout.hosts()));
    if (!made.ok()) return std::move(made).status();
    segment = Descriptor(made.value());
  }
  std::vector<std::unique_ptr<Transport>> opened;
  const std::vector<int> pids(static_cast<std::size_t>(ranks), getpid());
  for (int rank = 0; rank < ranks; ++rank) {
    Place place{.segment_fd = segment.get(), .rank = rank, .ways = ways, .pids = pids, .hub = {}};
    place.hub = hubs[static_cast<std::size_t>(rank)];
    Result<std::unique_ptr<Transport>> one = open_one(place, sizes);
    if (!one.ok()) return std::move(one).status();
    opened.push_back(std::move(one).value());
  }
  return opened;
}

// The names that HCOMM_TRANSPORT leaves, best first.
Result<std::vector<std::string_view>> allowed_transports(const Settings& settings) {
  Result<std::vector<std::string_view>> listed = parse_list(settings.transport);
  if (!listed.ok()) return std::move(listed).status();
  const bool excluded = settings.transport.starts_with('^') || settings.transport.empty();
  if (!excluded) return listed;
  std::vector<std::string_view> candidates;
  for (const TransportRecord& each : transports()) {
    if (std::ranges::find(listed.value(), each.name) == listed.value().end()) candidates.push_back(each.name);
  }
  return candidates;
}

}  // namespace

Result<Sizes> choose_sizes(int ranks, const Settings& settings) {
  Sizes sizes;
  sizes.slots = settings.slots == 0 ? kDefaultSlots : settings.slots;
  sizes.ring_bytes = ranks > kMany ? kRingBytesOfMany : kRingBytes;
  const std::size_t least = kUnitMinimum * static_cast<std::size_t>(ranks);
  const auto all_slots = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(sizes.slots);
  sizes.slot_bytes = std::max(std::clamp(kStagingBytes / all_slots, kSmallestSlot, kLargestSlot), least);
  if (settings.buffer_bytes != 0) sizes.slot_bytes = settings.buffer_bytes;
  sizes.slot_bytes = round_up(sizes.slot_bytes, kCacheLineBytes);
  if (sizes.slot_bytes < least) {
    return Status::failure(hcommInvalidArgument, "HCOMM_BUFFSIZE=" + std::to_string(settings.buffer_bytes) +
                                                     " is too small for " + std::to_string(ranks) + " ranks: at least " +
                                                     std::to_string(least) + " bytes are needed");
  }
  return sizes;
}

bool allows_transport(const Settings& settings, std::string_view name) {
  const Result<std::vector<std::string_view>> allowed = allowed_transports(settings);
  return allowed.ok() && std::ranges::find(allowed.value(), name) != allowed.value().end();
}

Result<std::string_view> choose_transport(const Settings& settings, bool between_processes) {
  const auto fits = [&](std::string_view name) { return !between_processes || find_transport(name)->between_processes; };
  Result<std::vector<std::string_view>> allowed = allowed_transports(settings);
  if (!allowed.ok()) return std::move(allowed).status();
  std::vector<std::string_view>& candidates = allowed.value();
  if (settings.transport.starts_with('^') || settings.transport.empty()) {
    // Threads of one process have no use for what processes share.
    const auto for_threads = [](std::string_view name) { return !find_transport(name)->between_processes; };
    if (!between_processes) std::ranges::stable_partition(candidates, for_threads);
  }
  const auto found = std::ranges::find_if(candidates, fits);
  if (found != candidates.end()) return *found;
  return Status::failure(hcommInvalidUsage, "HCOMM_TRANSPORT=" + settings.transport + " leaves no transport " +
                                                (between_processes ? "between processes" : "between threads") +
                                                "; there are " + legal_names());
}

std::string_view Ways::transport_name() const {
  if (are_memory_alone()) return "shm";
  return shares_memory && layout.hosts() < ranks ? "shm+tcp" : "tcp";
}

Result<std::vector<std::unique_ptr<Transport>>> open_all(std::string_view transport, const Ways& ways, const Sizes& sizes) {
  if (transport != "loopback" || !ways.are_memory_alone()) return open_places(ways, sizes);
  return open_loopback({.ranks = ways.ranks, .slots = sizes.slots, .slot_bytes = sizes.slot_bytes});
}

Result<std::unique_ptr<Transport>> open_one(const Place& place, const Sizes& sizes) {
  const int ranks = place.ways.ranks;
  std::unique_ptr<ShmTransport> local;
  std::vector<bool> here = here_of(place.ways, place.rank);
  if (place.ways.shares_memory && std::ranges::count(here, true) > 1) {
    Result<std::unique_ptr<ShmTransport>> opened = open_memory(place, sizes);
    if (!opened.ok()) return std::move(opened).status();
    local = std::move(opened).value();
  }
  if (place.ways.are_memory_alone() && ranks > 1) return std::unique_ptr<Transport>(std::move(local));
  return open_mesh({.rank = place.rank,
                    .ranks = ranks,
                    .context = static_cast<std::uint32_t>(place.context),
                    .hub = place.hub,
                    .local = std::move(local),
                    .here = std::move(here),
                    .pids = place.pids});
}

Result<int> make_segment(int ranks, const Settings& settings) {
  Result<Sizes> sizes = choose_sizes(ranks, settings);
  if (!sizes.ok()) return std::move(sizes).status();
  const Sizes& size = sizes.value();
  return create_segment(shm_segment_bytes(ranks, size.slots, size.slot_bytes, size.ring_bytes, kMaxContexts));
}

}  // namespace hcomm
