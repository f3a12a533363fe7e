// Walking through the parts of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace hcomm {

// The largest page that an ordinary mapping may have on any machine we run on; parts that are to lie on pages of their own are
// aligned to it. Memory files are sparse, so it costs addresses, not memory.
inline constexpr std::size_t kPageBytes = 64 << 10;

// A position in a list of parts. The list is borrowed.
template <class Part>
class PartCursor {
 public:
  PartCursor() = default;
  explicit PartCursor(std::span<const Part> parts) : parts_(parts) {
    for (const Part& part : parts) left_ += part.size();
    skip_empty();
  }

  std::size_t left() const { return left_; }
  // The bytes here that lie together; not empty unless nothing is left.
  Part here() const { return parts_.empty() ? Part() : parts_.front().subspan(offset_); }
  void advance(std::size_t bytes) {  // within here()
    offset_ += bytes;
    left_ -= bytes;
    skip_empty();
  }

 private:
  void skip_empty() {
    while (!parts_.empty() && offset_ == parts_.front().size()) {
      parts_ = parts_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const Part> parts_;
  std::size_t offset_ = 0;
  std::size_t left_ = 0;
};

using Cursor = PartCursor<Bytes>;
using ConstCursor = PartCursor<ConstBytes>;

// Copies until one of them is at its end.
inline void copy_between(ConstCursor& source, Cursor& target) {
  while (source.left() > 0 && target.left() > 0) {
    const std::size_t bytes = std::min(source.here().size(), target.here().size());
    std::memcpy(target.here().data(), source.here().data(), bytes);
    source.advance(bytes);
    target.advance(bytes);
  }
}

// What a receive of the wrong length says.
std::string wrong_length(int peer, std::size_t sent, std::size_t expected);

// What a receive of a message with another mark says.
std::string wrong_mark(int peer);

// InvalidArgument unless ranks, slots and the size of a slot are ones that a window can have.
Status check_geometry(int ranks, int slots, std::size_t slot_bytes);

}  // namespace hcomm
