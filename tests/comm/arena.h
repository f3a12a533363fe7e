// Buffers for a call, with canaries around what may be written and a guard on what may not.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hcomm::testing {

enum class Placement { apart, in_place, window, window_in_place };

inline constexpr Placement kPlacements[] = {Placement::apart, Placement::in_place, Placement::window, Placement::window_in_place};

constexpr bool is_in_place(Placement placement) {
  return placement == Placement::in_place || placement == Placement::window_in_place;
}

constexpr const char* name(Placement placement) {
  switch (placement) {
    case Placement::apart:           return "apart";
    case Placement::in_place:        return "in place";
    case Placement::window:          return "window";
    case Placement::window_in_place: return "window, in place";
  }
  return "?";
}

// A buffer that stays between calls and grows as needed: private pages, or hcommMemAlloc memory. What is handed out starts
// `skew` bytes behind a canary of 64 bytes and is followed by another one.
class Arena {
 public:
  explicit Arena(bool window) : window_(window) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::span<std::byte> take(std::size_t bytes, std::size_t skew);
  // Private pages only: any write is then a crash. Until the next take().
  void forbid_writes();
  bool canaries_live() const;

 private:
  void release();

  const bool window_;
  std::byte* memory_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
  std::size_t skew_ = 0;
  bool read_only_ = false;
};

}  // namespace hcomm::testing
