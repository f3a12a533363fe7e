#include "api/handles.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace hcomm {
namespace {

struct Place {
  std::atomic<Communicator*> communicator{nullptr};
  std::atomic<std::uint64_t> generation{0};  // of the communicator in it, or of the last one
};

std::array<Place, kMaxCommunicators> places;
std::mutex adding;            // guards `next_try` and the choice of a place
std::size_t next_try = 0;

// Never null and never aligned like a real object's address: generation * table size + place, plus one.
hcommComm_t pack(std::uint64_t generation, std::size_t place) {
  return reinterpret_cast<hcommComm_t>(static_cast<std::uintptr_t>((generation * kMaxCommunicators + place) * 2 + 1));
}

Place* unpack(hcommComm_t handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value % 2 == 0) return nullptr;
  Place& place = places[value / 2 % kMaxCommunicators];
  return place.generation.load(std::memory_order_acquire) == value / 2 / kMaxCommunicators ? &place : nullptr;
}

}  // namespace

Result<hcommComm_t> add_handle(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard lock(adding);
  for (std::size_t tried = 0; tried < kMaxCommunicators; ++tried) {
    const std::size_t index = next_try++ % kMaxCommunicators;
    Place& place = places[index];
    if (place.communicator.load(std::memory_order_relaxed) != nullptr) continue;
    const std::uint64_t generation = place.generation.load(std::memory_order_relaxed) + 1;
    place.generation.store(generation, std::memory_order_release);  // first: no stale handle may find what comes next
    place.communicator.store(communicator.release(), std::memory_order_release);
    return pack(generation, index);
  }
  return Status::failure(hcommOutOfMemory, "this process has " + std::to_string(kMaxCommunicators) +
                                               " communicators, the most there can be; destroy one first");
}

Communicator* find_communicator(hcommComm_t handle) {
  Place* const place = unpack(handle);
  return place == nullptr ? nullptr : place->communicator.load(std::memory_order_acquire);
}

std::unique_ptr<Communicator> take_communicator(hcommComm_t handle) {
  Place* const place = unpack(handle);
  return std::unique_ptr<Communicator>(place == nullptr ? nullptr : place->communicator.exchange(nullptr));
}

Status no_such_handle(hcommComm_t handle) {
  return Status::failure(hcommInvalidArgument,
                         handle == nullptr ? "comm is NULL" : "comm is no communicator of this process, or was destroyed");
}

}  // namespace hcomm
