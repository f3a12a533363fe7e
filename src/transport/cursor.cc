#include "transport/cursor.h"

#include "schedule/problem.h"

namespace hcomm {

std::string wrong_length(int peer, std::size_t sent, std::size_t expected) {
  return "rank " + std::to_string(peer) + " sent " + std::to_string(sent) + " bytes where " + std::to_string(expected) +
         " were expected; all ranks must make the same calls with the same counts and types";
}

std::string wrong_mark(int peer) {
  return "what rank " + std::to_string(peer) + " sent is of another call; all ranks must make the same calls in the same order";
}

Status check_geometry(int ranks, int slots, std::size_t slot_bytes) {
  if (ranks < 1 || ranks > kMaxRanks) {
    return Status::failure(hcommInvalidArgument, std::to_string(ranks) + " ranks; legal are 1 to " + std::to_string(kMaxRanks));
  }
  if (slots < 1 || slots > kMaxSlots) {
    return Status::failure(hcommInvalidArgument, std::to_string(slots) + " slots; legal are 1 to " + std::to_string(kMaxSlots));
  }
  if (slot_bytes % kCacheLineBytes != 0 || slot_bytes > std::size_t{1} << 32) {
    return Status::failure(hcommInvalidArgument, "slots of " + std::to_string(slot_bytes) +
                                                     " bytes; legal are multiples of 64 up to 4 GiB");
  }
  return {};
}

}  // namespace hcomm
