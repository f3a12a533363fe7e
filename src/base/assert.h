// Broken invariants crash, in release builds too: a collective that goes on wrongly costs more than one that stops.
#pragma once

namespace hcomm {

// Prints "file:line: broken invariant: text" to standard error and aborts. Never returns.
[[noreturn]] void broken_invariant(const char* text, const char* file, int line) noexcept;

// Marks a place that control cannot reach, such as the end of a switch over an enumeration.
[[noreturn]] void unreachable(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept;

}  // namespace hcomm

#define HCOMM_ASSERT(condition) \
  (__builtin_expect(!!(condition), 1) ? void() : ::hcomm::broken_invariant(#condition, __FILE__, __LINE__))
