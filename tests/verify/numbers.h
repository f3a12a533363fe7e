// Concrete values for the interpreter: a sum that tells whether a result is right, and a recipe that tells how it was computed.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace hcomm {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a ^ std::rotl(b, 32)) * 0x9e3779b97f4a7c15u + b;
  x ^= x >> 31;
  return x * 0xbf58476d1ce4e5b9u;
}

// A number, and how it was computed.
struct Number {
  std::uint64_t sum = 0;
  std::uint64_t recipe = 0;

  friend bool operator==(const Number&, const Number&) = default;
};

inline Number junk(std::uint64_t seed) { return {mix(seed, 77), mix(seed, 78)}; }
inline Number prepare(Number x) { return {x.sum * 3, mix(x.recipe, 1)}; }
inline Number finish(Number x) { return {x.sum * 5 + 7, mix(x.recipe, 2)}; }
inline Number add(Number a, Number b) { return {a.sum + b.sum, mix(mix(a.recipe, b.recipe), 3)}; }

// The balanced tree in the order given.
inline Number tree(std::span<const Number> x) {
  if (x.size() == 1) return x[0];
  const std::size_t left = std::bit_ceil(x.size()) / 2;
  return add(tree(x.first(left)), tree(x.subspan(left)));
}

}  // namespace hcomm
