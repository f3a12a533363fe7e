// The operations of a schedule. docs/schedule_format.md tells the same in prose and gives the text form.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/assert.h"
#include "base/ids.h"

namespace hcomm {

enum class Buffer : std::uint8_t {
  input,    // the caller's send buffer: read only
  output,   // the caller's receive buffer; may be the input (in place)
  scratch,  // private to the rank and the call; unit addressed
  slot,     // owner's staging memory in the window; written by its owner alone, read by all; unit addressed
  exposed,  // what the owner shows of its input in this call. Binds late, rank by rank: either to the owner's own input
            // (if that lies in a live window), or to slot(owner) at the same place. Both bindings are proved
};

constexpr std::string_view name(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:   return "input";
    case Buffer::output:  return "output";
    case Buffer::scratch: return "scratch";
    case Buffer::slot:    return "slot";
    case Buffer::exposed: return "exposed";
  }
  unreachable();
}

constexpr bool has_owner(Buffer buffer) { return buffer == Buffer::slot || buffer == Buffer::exposed; }
constexpr bool has_place(Buffer buffer) { return has_owner(buffer) || buffer == Buffer::scratch; }

enum class Format : std::uint8_t {
  element,  // the call's element type
  partial,  // the type in which no partial result loses anything it need not: fp32 for smaller floats, wide integers for
            // means of integers, else the element type
  sum,      // of partial results that travel: the element type where they may wrap or be rounded on the way, else `partial`
};

// Done exactly once on the way of an element: prepare on each rank's contribution, finish on each result.
enum class Scaling : std::uint8_t { none, prepare, finish };

// Blocks [first, first + count) of a chunk, in a buffer. In unit-addressed buffers they lie in units
// [place, place + count), one block to a unit; elsewhere place is 0. A count of 0 is an empty message.
struct Slice {
  Buffer buffer = Buffer::input;
  Format format = Format::element;
  Scaling scaling = Scaling::none;
  std::uint8_t unused = 0;
  std::int32_t owner = 0;  // the rank whose memory it is
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t place = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};
static_assert(std::is_trivially_copyable_v<Slice>);
static_assert(sizeof(Slice) == 20);

enum class OpKind : std::uint8_t {
  send,     // source -> peer. Starts in program order, ends on its own
  recv,     // peer -> target. Starts in program order, ends on its own
  combine,  // targets = op over sources, the balanced tree in the order listed; one source is a copy
  signal,   // raises the rank's own step to `phase` of this epoch
  await,    // until the peer's step is at least `phase` of the epoch `back` before this one
};

constexpr std::string_view name(OpKind kind) {
  switch (kind) {
    case OpKind::send:    return "send";
    case OpKind::recv:    return "recv";
    case OpKind::combine: return "combine";
    case OpKind::signal:  return "signal";
    case OpKind::await:   return "await";
  }
  unreachable();
}

// A rank has one flag in the window, its step: epoch * 4 + phase. It has one writer and only grows, so a later phase or
// epoch implies every earlier one. What the phases mean is up to the schedule but for `finished`, on which slot
// reuse rests: the rank touches no slot of this epoch any more.
enum class Phase : std::uint8_t { filled = 1, reduced = 2, finished = 3 };

constexpr std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::filled:   return "filled";
    case Phase::reduced:  return "reduced";
    case Phase::finished: return "finished";
  }
  unreachable();
}

inline constexpr std::uint64_t kStepsPerEpoch = 4;

constexpr std::uint64_t step_value(std::uint64_t epoch, Phase phase) {
  return epoch * kStepsPerEpoch + static_cast<std::uint64_t>(phase);
}

// Lanes of a pair have their own order and credits; none blocks another.
enum class Lane : std::uint8_t { collective, point_to_point, control };
inline constexpr int kLanes = 3;

constexpr std::string_view name(Lane lane) {
  switch (lane) {
    case Lane::collective:     return "collective";
    case Lane::point_to_point: return "point_to_point";
    case Lane::control:        return "control";
  }
  unreachable();
}

struct Op {
  OpKind kind = OpKind::combine;
  Phase phase = Phase::filled;  // signal, await
  std::uint8_t back = 0;        // await: so many epochs ago
  Lane lane = Lane::collective;
  Rank peer = kNoRank;  // send, recv, await
  std::uint32_t first_source = 0;  // Program::slices[first_source, first_source + source_count)
  std::uint32_t source_count = 0;
  std::uint32_t first_target = 0;
  std::uint32_t target_count = 0;
  std::uint32_t first_wait = 0;  // Program::waits[first_wait, first_wait + wait_count): sends and receives, by index of
  std::uint32_t wait_count = 0;  // their op, that must have ended before this op starts

  friend bool operator==(const Op&, const Op&) = default;
};
static_assert(std::is_trivially_copyable_v<Op>);
static_assert(sizeof(Op) == 32);

}  // namespace hcomm
