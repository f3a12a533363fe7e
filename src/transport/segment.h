// The memory that the ranks of one host share: one sealed, nameless file with an area for each communicator (a context).
//
//   +----------------+----------------+-------------------+-------+------------------------+
//   | header,        | lives, pulses, | steps, doorbells, | slots | rings: control, data,  |   of one context,
//   | verdict        |                | records           |       | control, data, ...     |   then the next
//   +----------------+----------------+-------------------+-------+------------------------+
//
// The file is sparse: a page exists once somebody touched it. So that an idle context has few, all that is small lies close
// together, and what different ranks write in lines of its own. The slots start on a page, each ring on one of the usual size;
// what a rank owns of them is touched first by that rank, so that it lies on its NUMA node. All-zero memory is a fresh context.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "schedule/op.h"
#include "transport/board.h"
#include "transport/pulse.h"
#include "transport/window.h"

namespace hcomm {

inline constexpr int kMaxShmRanks = 1024;
inline constexpr int kMaxContexts = 1024;
inline constexpr std::size_t kMinRingBytes = 256;
inline constexpr std::size_t kMaxRingBytes = std::size_t{16} << 20;

// What all ranks of a segment agree on.
struct Geometry {
  int ranks = 1;
  int slots = 2;
  std::size_t slot_bytes = 0;
  std::size_t ring_bytes = 0;  // a power of two
};

// How far each end of a ring has come, in bytes since the start. Each cursor has one writer.
struct RingControl {
  alignas(128) std::atomic<std::uint64_t> written{0};
  alignas(128) std::atomic<std::uint64_t> read{0};
};
static_assert(sizeof(RingControl) == 256);

// Offsets in a context. Legal geometries cannot overflow: 2^20 pairs * 3 lanes * 2^24 bytes * 2^10 contexts < 2^56.
struct Layout {
  explicit Layout(const Geometry& geometry);

  std::size_t verdict = 0;
  std::size_t lives = 0;
  std::size_t pulses = 0;
  std::size_t steps = 0;
  std::size_t doorbells = 0;
  std::size_t records = 0;
  std::size_t slots = 0;
  std::size_t rings = 0;
  std::size_t ring_stride = 0;  // from one control to the next
  std::size_t bytes = 0;  // of the whole context; whole pages
};

Status check_shm_geometry(const Geometry& geometry);

// The size of a segment with so many contexts; 0 if an argument is out of its range.
std::size_t shm_segment_bytes(int ranks, int slots, std::size_t slot_bytes, std::size_t ring_bytes, int contexts);

// A new segment: a file without a name that can neither shrink nor grow. The caller closes it.
Result<int> create_segment(std::size_t bytes);

// One context, mapped. Not present in children of a fork: there the owner calls forget() and touches nothing.
class Context {
 public:
  // Checks the file and the header before anything else in it is looked at.
  static Result<Context> map(int segment_fd, int context, const Geometry& geometry);

  Context() = default;
  Context(Context&& other) noexcept;
  Context& operator=(Context&& other) noexcept;
  ~Context();

  Window window(int self) const;
  Board board() const;
  Pulse* pulses() const { return at<Pulse>(layout_.pulses); }
  RingControl& ring_control(int from, int to, int lane) const;
  std::byte* ring_data(int from, int to, int lane) const;
  const Geometry& geometry() const { return geometry_; }

  void forget() { base_ = nullptr; }

 private:
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  std::size_t ring_index(int from, int to, int lane) const;
  Status check_header() const;

  Geometry geometry_;
  Layout layout_{Geometry{}};
  std::byte* base_ = nullptr;
};

}  // namespace hcomm
