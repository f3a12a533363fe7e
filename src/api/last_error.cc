#include "api/last_error.h"

#include <algorithm>
#include <array>

namespace hcomm::last_error {
namespace {

using Text = std::array<char, 2048>;

void copy(std::string_view from, Text& to) noexcept {
  const std::size_t length = std::min(from.size(), to.size() - 1);
  std::copy_n(from.data(), length, to.data());
  to[length] = '\0';
}

thread_local Text own{};
thread_local Text lent{};

}  // namespace

hcommResult_t set(hcommResult_t code, std::string_view text) noexcept {
  if (code != hcommSuccess) copy(text, own);
  return code;
}

const char* text() noexcept { return own.data(); }

const char* lend(std::string_view text) noexcept {
  copy(text, lent);
  return lent.data();
}

}  // namespace hcomm::last_error
