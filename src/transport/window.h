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

// One cache line: the step and, for the smallest messages, the data itself, so that both cross in one transfer.
struct alignas(128) StepLine {
  std::atomic<std::uint64_t> step{0};
  std::byte payload[56];

  // How many bytes of inline payload each of `slots` slots has; a multiple of 8, may be 0.
  static constexpr std::size_t payload_bytes(int slots) { return 56 / static_cast<std::size_t>(slots) / 8 * 8; }
};
static_assert(sizeof(StepLine) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Wakes one rank. `word` changes with each ring; `sleeping` is 1 from before the last look at what is awaited until awake.
struct alignas(128) Doorbell {
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint32_t> sleeping{0};
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
  std::byte* inline_slot(int rank, std::uint64_t epoch) const {
    const auto which = epoch % static_cast<std::uint64_t>(slots);
    return steps[rank].payload + which * StepLine::payload_bytes(slots);
  }
};

}  // namespace hcomm
