#include "transport/byte_ring.h"

#include <algorithm>
#include <cstring>

namespace hcomm {

std::optional<std::size_t> RingWriter::room(std::size_t wanted) {
  const std::size_t known = bytes_ - static_cast<std::size_t>(written_ - read_);
  if (known >= wanted) return known;
  const std::uint64_t read = control_->read.load(std::memory_order_acquire);
  if (read - read_ > written_ - read_) return std::nullopt;  // behind what was seen, or ahead of what was written
  read_ = read;
  return bytes_ - static_cast<std::size_t>(written_ - read_);
}

void RingWriter::put(ConstBytes source) {
  const std::size_t start = static_cast<std::size_t>(written_) & (bytes_ - 1);
  const std::size_t before_end = std::min(source.size(), bytes_ - start);
  copy_out_(data_ + start, source.data(), before_end);
  if (before_end < source.size()) copy_out_(data_, source.data() + before_end, source.size() - before_end);
  written_ += source.size();
}

bool RingReader::refresh() {
  const std::uint64_t written = control_->written.load(std::memory_order_acquire);
  if (written - written_ > bytes_ || written - read_ > bytes_) return false;
  written_ = written;
  return true;
}

void RingReader::take(Bytes target) {
  const std::size_t start = static_cast<std::size_t>(read_) & (bytes_ - 1);
  const std::size_t before_end = std::min(target.size(), bytes_ - start);
  std::memcpy(target.data(), data_ + start, before_end);
  if (before_end < target.size()) std::memcpy(target.data() + before_end, data_, target.size() - before_end);
  read_ += target.size();
}

}  // namespace hcomm
