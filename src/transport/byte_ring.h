// A ring of bytes in shared memory with one writer and one reader, in different processes that do not trust each other.
//
// Each end keeps its own cursor in private memory and only publishes it. The peer's cursor is checked when it is loaded:
// one that lies behind what was seen before, or further ahead than the ring is long, is impossible, and then the ring is
// broken for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "transport/segment.h"

namespace hcomm {

// Copies bytes to where a peer on another core will read them. Regions do not overlap.
using CopyOut = void (*)(void* target, const void* source, std::size_t bytes);

// The sending end. One thread.
class RingWriter {
 public:
  RingWriter(RingControl& control, std::byte* data, std::size_t bytes, CopyOut copy_out)
      : control_(&control), data_(data), bytes_(bytes), copy_out_(copy_out) {}

  // How many bytes fit now, looking at the peer's cursor only if fewer than `wanted` are known to. None: broken.
  std::optional<std::size_t> room(std::size_t wanted);
  void put(ConstBytes source);      // at most room()
  void skip(std::size_t bytes) { written_ += bytes; }  // at most room(); their contents do not matter
  void publish() { control_->written.store(written_, std::memory_order_seq_cst); }
  std::uint64_t moved() const { return written_; }  // since the start

 private:
  RingControl* control_;  // shared
  std::byte* data_;       // shared; written here, never read
  std::size_t bytes_;     // a power of two
  CopyOut copy_out_;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;  // the peer's, as last seen
};

// The receiving end. One thread.
class RingReader {
 public:
  RingReader(RingControl& control, const std::byte* data, std::size_t bytes)
      : control_(&control), data_(data), bytes_(bytes) {}

  // Looks at the peer's cursor. False: broken.
  bool refresh();
  // How many bytes can be taken, as of the last refresh.
  std::size_t available() const { return static_cast<std::size_t>(written_ - read_); }
  void take(Bytes target);  // at most available()
  void skip(std::size_t bytes) { read_ += bytes; }  // at most available()
  void publish() { control_->read.store(read_, std::memory_order_seq_cst); }
  std::uint64_t moved() const { return read_; }  // since the start

 private:
  RingControl* control_;   // shared
  const std::byte* data_;  // shared; may change while it is read
  std::size_t bytes_;
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;  // the peer's, as last seen
};

}  // namespace hcomm
