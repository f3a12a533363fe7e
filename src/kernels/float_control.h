// Gives a scope the default floating-point control word (round to nearest, no FTZ or DAZ, exceptions masked) and gives the
// caller's word back afterwards, flags included. Cheap when the caller already runs with the default: it reads twice.
#pragma once

#include <cstdint>

namespace hcomm {

class DefaultFloatControl {
 public:
  explicit DefaultFloatControl(bool needed) noexcept : needed_(needed) {
    if (needed_) enter();
  }
  ~DefaultFloatControl() {
    if (needed_) leave();
  }
  DefaultFloatControl(const DefaultFloatControl&) = delete;
  DefaultFloatControl& operator=(const DefaultFloatControl&) = delete;

 private:
  void enter() noexcept;
  void leave() noexcept;

  bool needed_;
  std::uint64_t control_ = 0;  // the caller's
  std::uint64_t flags_ = 0;    // the caller's, where they lie in a word of their own
};

}  // namespace hcomm
