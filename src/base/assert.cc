#include "base/assert.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace hcomm {

void broken_invariant(const char* text, const char* file, int line) noexcept {
  char message[512];
  const int length = std::snprintf(message, sizeof message, "hcomm: %s:%d: broken invariant: %s\n", file, line, text);
  if (length > 0) {
    const auto size = static_cast<std::size_t>(length);
    [[maybe_unused]] const auto written = write(STDERR_FILENO, message, size < sizeof message ? size : sizeof message);
  }
  std::abort();
}

void unreachable(const char* file, int line) noexcept { broken_invariant("unreachable", file, line); }

}  // namespace hcomm
