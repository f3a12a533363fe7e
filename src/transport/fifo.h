// A queue that keeps its items: an item that was popped is used again with the memory it holds, so that a queue in steady
// state allocates nothing. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hcomm {

template <class T>
class Fifo {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return items_[head_]; }

  // The new last item, in the state in which an earlier user left it.
  T& push() {
    if (count_ == items_.size()) grow();
    T& item = items_[(head_ + count_) % items_.size()];
    ++count_;
    return item;
  }

  void pop() {
    head_ = (head_ + 1) % items_.size();
    --count_;
  }

 private:
  void grow() {
    std::rotate(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_), items_.end());
    head_ = 0;
    items_.resize(std::max<std::size_t>(1, 2 * items_.size()));
  }

  std::vector<T> items_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace hcomm
