#include "comm/open.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "comm/stores.h"
#include "schedule/problem.h"
#include "transport/loopback.h"
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

Result<std::vector<std::unique_ptr<Transport>>> open_all_shm(int ranks, const Sizes& sizes) {
  Result<int> segment = create_segment(shm_segment_bytes(ranks, sizes.slots, sizes.slot_bytes, sizes.ring_bytes, 1));
  if (!segment.ok()) return std::move(segment).status();
  std::vector<std::unique_ptr<Transport>> opened;
  Status failure;
  for (int rank = 0; rank < ranks && failure.ok(); ++rank) {
    Result<std::unique_ptr<Transport>> one = open_one("shm", segment.value(), 0, rank, ranks, sizes);
    if (one.ok()) {
      opened.push_back(std::move(one).value());
    } else {
      failure = std::move(one).status();
    }
  }
  close(segment.value());
  if (!failure.ok()) return failure;
  return opened;
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

Result<std::string_view> choose_transport(const Settings& settings, bool between_processes) {
  const auto fits = [&](std::string_view name) { return !between_processes || find_transport(name)->between_processes; };
  Result<std::vector<std::string_view>> listed = parse_list(settings.transport);
  if (!listed.ok()) return std::move(listed).status();
  const bool excluded = settings.transport.starts_with('^') || settings.transport.empty();
  std::vector<std::string_view> candidates;
  if (excluded) {
    for (const TransportRecord& each : transports()) {
      if (std::ranges::find(listed.value(), each.name) == listed.value().end()) candidates.push_back(each.name);
    }
    // Threads of one process have no use for what processes share.
    const auto for_threads = [](std::string_view name) { return !find_transport(name)->between_processes; };
    if (!between_processes) std::ranges::stable_partition(candidates, for_threads);
  } else {
    candidates = listed.value();
  }
  const auto found = std::ranges::find_if(candidates, fits);
  if (found != candidates.end()) return *found;
  return Status::failure(hcommInvalidUsage, "HCOMM_TRANSPORT=" + settings.transport + " leaves no transport " +
                                                (between_processes ? "between processes" : "between threads") +
                                                "; there are " + legal_names());
}

Result<std::vector<std::unique_ptr<Transport>>> open_all(std::string_view transport, int ranks, const Sizes& sizes) {
  if (transport == "shm") return open_all_shm(ranks, sizes);
  return open_loopback({.ranks = ranks, .slots = sizes.slots, .slot_bytes = sizes.slot_bytes});
}

Result<std::unique_ptr<Transport>> open_one(std::string_view transport, int segment_fd, int context, int rank, int ranks,
                                            const Sizes& sizes) {
  HCOMM_ASSERT(transport == "shm");
  return open_shm({.segment_fd = segment_fd,
                   .context = context,
                   .rank = rank,
                   .ranks = ranks,
                   .slots = sizes.slots,
                   .slot_bytes = sizes.slot_bytes,
                   .ring_bytes = sizes.ring_bytes,
                   .copy_out = copy_shared});
}

Result<int> make_segment(int ranks, const Settings& settings) {
  Result<Sizes> sizes = choose_sizes(ranks, settings);
  if (!sizes.ok()) return std::move(sizes).status();
  const Sizes& size = sizes.value();
  return create_segment(shm_segment_bytes(ranks, size.slots, size.slot_bytes, size.ring_bytes, kMaxContexts));
}

}  // namespace hcomm
