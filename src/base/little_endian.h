// Numbers as bytes, the same on all machines: the least significant byte first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/assert.h"
#include "base/bytes.h"

namespace hcomm {

// Writes to the front of `bytes` and takes that off.
template <std::integral T>
void put(Bytes& bytes, T value) {
  HCOMM_ASSERT(bytes.size() >= sizeof(T));
  auto rest = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<std::byte>(rest & 0xff);
    if constexpr (sizeof(T) > 1) rest >>= 8;
  }
  bytes = bytes.subspan(sizeof(T));
}

// Reads from the front of `bytes` and takes that off. The caller has checked that there is enough.
template <std::integral T>
T take(ConstBytes& bytes) {
  HCOMM_ASSERT(bytes.size() >= sizeof(T));
  std::make_unsigned_t<T> value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<std::make_unsigned_t<T>>(static_cast<std::make_unsigned_t<T>>(bytes[i]) << (8 * i));
  }
  bytes = bytes.subspan(sizeof(T));
  return static_cast<T>(value);
}

}  // namespace hcomm
