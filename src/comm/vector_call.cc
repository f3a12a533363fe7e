#include "comm/vector_call.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "kernels/combine.h"

namespace hcomm {
namespace {

constexpr std::size_t kMostBytes = PTRDIFF_MAX;

Status refuse(const VectorCall& call, const std::string& what, std::source_location where = std::source_location::current()) {
  return Status::failure(hcommInvalidArgument, std::string(name(call.collective)) + "_v: " + what, where);
}

// Which lists this rank has to pass.
bool wants_list(const VectorCall& call, Side side, bool is_root) {
  switch (call.collective) {
    case Collective::allgather:      return side == Side::output;
    case Collective::reduce_scatter: return side == Side::input;
    case Collective::gather:         return side == Side::output && is_root;
    case Collective::scatter:        return side == Side::input && is_root;
    case Collective::alltoall:       return true;
    case Collective::allreduce:
    case Collective::broadcast:
    case Collective::barrier:
    case Collective::reduce:         break;
  }
  unreachable();
}

// What tells the lengths of a side.
const char* list_name(const VectorCall& call, Side side) {
  if (!lengths_are_private(call.collective)) return "recv_counts";
  if (is_lone(call.collective, side)) return side == Side::input ? "send_count" : "recv_count";
  return side == Side::input ? "send_counts" : "recv_counts";
}

std::vector<std::size_t> one_after_the_other(const std::vector<std::size_t>& lengths) {
  std::vector<std::size_t> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), std::size_t{0});
  return offsets;
}

Status check_reach(const VectorCall& call, Side side, const std::vector<std::size_t>& lengths,
                   const std::vector<std::size_t>& offsets) {
  const std::size_t most = kMostBytes / element_bytes(call.dtype);
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    if (lengths[rank] <= most && offsets[rank] <= most - lengths[rank]) continue;
    return refuse(call, std::string(list_name(call, side)) + " of rank " + std::to_string(rank) + " is " +
                            std::to_string(lengths[rank]) + ", at offset " + std::to_string(offsets[rank]) +
                            ": more than memory can hold; the most is " + std::to_string(most));
  }
  return {};
}

// Parts that are received must lie apart from each other.
Status check_apart(const VectorCall& call, const std::vector<std::size_t>& lengths, const std::vector<std::size_t>& offsets) {
  std::vector<std::size_t> order;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    if (lengths[rank] > 0) order.push_back(rank);
  }
  std::ranges::sort(order, {}, [&](std::size_t rank) { return offsets[rank]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t before = order[i - 1], rank = order[i];
    if (offsets[before] + lengths[before] <= offsets[rank]) continue;
    return refuse(call, "the parts of ranks " + std::to_string(std::min(before, rank)) + " and " +
                            std::to_string(std::max(before, rank)) + " overlap in recv, by recv_counts and recv_offsets");
  }
  return {};
}

Region region_of(const CollectiveCall& call, Side side) {
  return {.begin = reinterpret_cast<std::uintptr_t>(side == Side::input ? call.send : call.recv), .bytes = bytes_of(call, side)};
}

// In place: the rank's own part lies where it lies among the others; of an alltoall all parts do.
bool is_in_place(const CollectiveCall& call, int rank) {
  const auto& [input, output] = call.unequal->sides;
  if (call.collective == Collective::alltoall) {
    return call.send == call.recv && std::ranges::equal(input.lengths, output.lengths) &&
           std::ranges::equal(input.offsets, output.offsets);
  }
  const auto own_part = [&](const void* start, Side side, const UnequalBlocks::OfSide& parts) {
    const std::size_t place = is_lone(call.collective, side) ? 0 : static_cast<std::size_t>(rank);
    return reinterpret_cast<std::uintptr_t>(start) + parts.offsets[place] * element_bytes(call.dtype);
  };
  return own_part(call.send, Side::input, input) == own_part(call.recv, Side::output, output);
}

Status check_buffers(const VectorCall& given, const CollectiveCall& call, int rank) {
  const Region send = region_of(call, Side::input), recv = region_of(call, Side::output);
  if (send.bytes > 0 && call.send == nullptr) return refuse(given, "send is NULL, and not all of it has length 0");
  if (recv.bytes > 0 && call.recv == nullptr) return refuse(given, "recv is NULL, and not all of it has length 0");
  if (send.bytes == 0 || recv.bytes == 0 || !send.overlaps(recv) || is_in_place(call, rank)) return {};
  return refuse(given, "send and recv overlap in part; legal are buffers apart from each other, or in place with the rank's own "
                       "part at its offset in the larger buffer (of alltoall: send == recv, with equal counts and offsets)");
}

// What a rank has for itself it must also take from itself.
Status check_own_part(const VectorCall& call, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  const bool at_root = rank == call.root;
  std::size_t sent = 0, received = 0;
  if (call.collective == Collective::allgather || (call.collective == Collective::gather && at_root)) {
    sent = call.send_count;
    received = call.recv_counts[own];
  } else if (call.collective == Collective::scatter && at_root) {
    sent = call.send_counts[own];
    received = call.recv_count;
  } else if (call.collective == Collective::alltoall) {
    sent = call.send_counts[own];
    received = call.recv_counts[own];
  }
  if (sent == received) return {};
  return refuse(call, "rank " + std::to_string(rank) + " has " + std::to_string(sent) + " elements for itself in send, and " +
                          std::to_string(received) + " in recv");
}

std::uint64_t hash_of(const std::vector<std::size_t>& lengths) {
  std::uint64_t state = kEmptyDigest;
  for (const std::size_t length : lengths) state = digest_step(state, length);
  return state;
}

}  // namespace

Result<UnequalParts> UnequalParts::of(const VectorCall& call, int rank, int ranks) {
  const CollectiveCall kind{.collective = call.collective, .dtype = call.dtype, .op = call.op, .root = call.root};
  if (Status status = check_kind(kind, ranks); !status.ok()) return status;
  const bool is_root = rank == call.root;
  for (const Side side : {Side::input, Side::output}) {
    const std::size_t* const list = side == Side::input ? call.send_counts : call.recv_counts;
    if (wants_list(call, side, is_root) && list == nullptr) return refuse(call, std::string(list_name(call, side)) + " is NULL");
  }
  UnequalParts made;
  made.given_ = call;
  made.read_sides(call, rank, ranks);
  const Lists& input = made.lists_[0];
  const Lists& output = made.lists_[1];
  if (Status status = check_reach(call, Side::input, input.lengths, input.offsets); !status.ok()) return status;
  if (Status status = check_reach(call, Side::output, output.lengths, output.offsets); !status.ok()) return status;
  if (Status status = check_own_part(call, rank); !status.ok()) return status;
  if (has_output(call.collective, is_root) && !is_lone(call.collective, Side::output)) {
    if (Status status = check_apart(call, output.lengths, output.offsets); !status.ok()) return status;
  }
  if (Status status = check_buffers(call, made.call(), rank); !status.ok()) return status;
  return made;
}

void UnequalParts::read_sides(const VectorCall& call, int rank, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  const auto copy = [&](const std::size_t* list) { return std::vector<std::size_t>(list, list + count); };
  const auto own_alone = [&](std::size_t length) {
    std::vector<std::size_t> lengths(count);
    lengths[static_cast<std::size_t>(rank)] = length;
    return lengths;
  };
  auto& [input, output] = lists_;
  const bool is_root = rank == call.root;
  switch (call.collective) {
    case Collective::allgather:
      input.lengths = output.lengths = copy(call.recv_counts);
      break;
    case Collective::reduce_scatter:
      input.lengths = output.lengths = copy(call.send_counts);
      break;
    case Collective::gather:
      input.lengths = own_alone(call.send_count);
      if (is_root) output.lengths = copy(call.recv_counts);
      break;
    case Collective::scatter:
      output.lengths = own_alone(call.recv_count);
      if (is_root) input.lengths = copy(call.send_counts);
      break;
    case Collective::alltoall:
      input.lengths = copy(call.send_counts);
      output.lengths = copy(call.recv_counts);
      break;
    case Collective::allreduce:
    case Collective::broadcast:
    case Collective::barrier:
    case Collective::reduce: unreachable();
  }
  for (const Side side : {Side::input, Side::output}) {
    Lists& lists = lists_[static_cast<std::size_t>(side)];
    const std::size_t* const offsets = side == Side::input ? call.send_offsets : call.recv_offsets;
    if (is_lone(call.collective, side)) lists.offsets.assign(count, 0);
    else lists.offsets = offsets == nullptr || lists.lengths.empty() ? one_after_the_other(lists.lengths) : copy(offsets);
  }
  const std::vector<std::size_t>& longest = lists_[call.collective == Collective::scatter && is_root ? 0 : 1].lengths;
  if (!longest.empty()) most_ = std::ranges::max(longest);
  if (call.collective == Collective::gather) most_ = std::max(most_, call.send_count);
  if (!lengths_are_private(call.collective)) hash_ = hash_of(input.lengths);
  blocks_.rank = rank;
}

CollectiveCall UnequalParts::call() {
  for (std::size_t side = 0; side < 2; ++side) {
    blocks_.sides[side] = {.lengths = lists_[side].lengths, .offsets = lists_[side].offsets};
  }
  return {.collective = given_.collective,
          .send = given_.send,
          .recv = given_.recv,
          .count = most_,
          .dtype = given_.dtype,
          .op = given_.op,
          .root = given_.root,
          .unequal = &blocks_,
          .lengths_hash = hash_};
}

std::size_t bytes_of(const CollectiveCall& call, Side side) {
  const UnequalBlocks::OfSide& parts = call.unequal->sides[static_cast<std::size_t>(side)];
  std::size_t end = 0;
  if (is_lone(call.collective, side)) {
    if (!parts.lengths.empty()) end = parts.lengths[static_cast<std::size_t>(call.unequal->rank)];
  } else {
    for (std::size_t i = 0; i < parts.lengths.size(); ++i) {
      if (parts.lengths[i] > 0) end = std::max(end, parts.offsets[i] + parts.lengths[i]);
    }
  }
  return end * element_bytes(call.dtype);
}

}  // namespace hcomm
