// What ranks of one host share: a step and a doorbell each, and slots for data. Plain memory that a transport laid out; the
// engine works on it directly. docs/schedule_format.md says what steps and slots mean.
//
//   Writers:  a rank writes its own step, its own inline payload, its own slots and its own records, and nobody
//             else's; doorbells are written by all.
//   Order:    data, then the step with release; a reader acquires the step, then reads the data.
//   Lifetime: owned by the transport that returned it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "schedule/problem.h"

namespace hcomm {

// In its first cache line, so that all of it crosses in one transfer: the step, and for each slot a digest of the call that
// filled it and, for the smallest messages, the data itself. Where there are so many slots that their shares have no room for a
// digest, it lies in the second line.
struct alignas(128) StepLine {
  static constexpr std::size_t kShared = 56;  // among the slots
  static constexpr std::size_t kDigest = 8;   // of a slot's share, if it has one

  std::atomic<std::uint64_t> step{0};
  alignas(8) std::byte payload[kShared];
  alignas(64) std::uint64_t digests[kMaxSlots];  // [slot]; where the shares have no room

  // Of each of `slots` slots; multiples of 8, may be 0.
  static constexpr std::size_t share_bytes(int slots) { return kShared / static_cast<std::size_t>(slots) / 8 * 8; }
  static constexpr bool has_digest(int slots) { return share_bytes(slots) >= kDigest; }
  static constexpr std::size_t payload_bytes(int slots) { return has_digest(slots) ? share_bytes(slots) - kDigest : 0; }
};
static_assert(sizeof(StepLine) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// The name of a socket that a rank sleeps at (bell_socket.h); 0: it sleeps on the word.
using BellName = std::uint64_t;

// Wakes one rank. `word` changes with each ring; `sleeping` is 1 from before the last look at what is awaited until awake.
struct alignas(128) Doorbell {
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint32_t> sleeping{0};
  std::atomic<BellName> socket{0};  // of a rank that also waits for other hosts; set before it sleeps for the first time
};

// Where an exposed buffer of this epoch's slot really lies. Written by its owner before the step that tells of it.
struct alignas(64) ExposedRecord {
  std::uint64_t window = 0;      // 0: staged in the slot; else the id of a window of the owner
  std::uint64_t generation = 0;  // of that window
  std::uint64_t offset = 0;      // of the owner's input in it, in bytes
};

// The shared words of one communicator on one host.
struct Window {
  int ranks = 0;
  int self = 0;
  int slots = 0;               // per rank, in [1, kMaxSlots]
  std::size_t slot_bytes = 0;  // of each slot; a multiple of 64

  StepLine* steps = nullptr;           // [ranks]
  Doorbell* doorbells = nullptr;       // [ranks]
  ExposedRecord* records = nullptr;    // [ranks * slots]
  std::byte* slot_memory = nullptr;    // [ranks * slots * slot_bytes], 64-byte aligned

  std::size_t index(int rank, std::uint64_t epoch) const {
    const auto count = static_cast<std::uint64_t>(slots);
    return static_cast<std::size_t>(static_cast<std::uint64_t>(rank) * count + epoch % count);
  }
  std::byte* slot(int rank, std::uint64_t epoch) const { return slot_memory + index(rank, epoch) * slot_bytes; }
  ExposedRecord& record(int rank, std::uint64_t epoch) const { return records[index(rank, epoch)]; }
  // A slot's share of its rank's step line: the digest, then the data. Both are part of the slot, and used by its rules.
  std::byte* share(int rank, std::uint64_t epoch) const {
    return steps[rank].payload + epoch % static_cast<std::uint64_t>(slots) * StepLine::share_bytes(slots);
  }
  std::atomic_ref<std::uint64_t> digest(int rank, std::uint64_t epoch) const {
    if (!StepLine::has_digest(slots)) return std::atomic_ref(steps[rank].digests[epoch % static_cast<std::uint64_t>(slots)]);
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(share(rank, epoch)));
  }
  std::byte* inline_slot(int rank, std::uint64_t epoch) const { return share(rank, epoch) + StepLine::kDigest; }
};

}  // namespace hcomm
