// Spans of raw bytes. Nobody owns through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hcomm {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

inline constexpr std::size_t kCacheLineBytes = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace hcomm
