// What each target has: one function that takes any bytes, and aborts (HCOMM_ASSERT) where a promise is broken. scripts/fuzz
// links it with libFuzzer, the ordinary build with replay_main.cc, which feeds it the corpus.
//
// A target's file says in a line "// Rooms: base, net" which rooms scripts/fuzz has to build for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hcomm {

inline ConstBytes bytes_of(const std::uint8_t* data, std::size_t size) { return std::as_bytes(std::span(data, size)); }

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return std::string_view(reinterpret_cast<const char*>(data), size);
}

}  // namespace hcomm
