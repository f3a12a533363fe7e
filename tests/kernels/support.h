// What the kernel tests share: names for bits, memory with canaries, and data in which the awkward values are frequent.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "kernels/combine.h"

namespace hcomm::test {

inline CombineKernel kernel_of(hcommDataType_t dtype, hcommRedOp_t op, std::string_view set = {}) {
  return find_combine(dtype, op, set).value();
}

inline constexpr Store kStores[] = {Store::regular, Store::non_temporal, Store::rep_movsb};

// Bytes between two canaries, at any distance from a cache line.
class Guarded {
 public:
  static constexpr std::size_t kGuard = 96;

  explicit Guarded(std::size_t most_bytes) : memory_(most_bytes + 2 * kGuard + 128) {}

  // A fresh region of `bytes`, `past_line` bytes after a multiple of 64.
  std::byte* fresh(std::size_t bytes, std::size_t past_line) {
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuard;
    data_ = memory_.data() + kGuard + ((64 - start % 64) % 64) + past_line;
    bytes_ = bytes;
    std::memset(data_ - kGuard, kCanary, bytes + 2 * kGuard);
    return data_;
  }
  std::byte* data() const { return data_; }
  bool intact() const { return all_canary(data_ - kGuard) && all_canary(data_ + bytes_); }

 private:
  static constexpr int kCanary = 0xA5;
  static bool all_canary(const std::byte* from) {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (from[i] != std::byte{kCanary}) return false;
    }
    return true;
  }

  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Of the numbers that an element of so many bytes consists of.
inline std::size_t number_bytes(hcommDataType_t dtype, std::size_t bytes) {
  return dtype == hcommComplex64 ? sizeof(float) : std::min(bytes, sizeof(double));
}

inline std::uint64_t awkward(std::size_t bytes_per_number, std::uint64_t draw) {
  static constexpr std::uint32_t kFloats[] = {0x7F800001, 0x7FFFFFFF, 0xFFC00000, 0x7F800000, 0xFF800000, 0x00000000,
                                              0x80000000, 0x00000001, 0x807FFFFF, 0x7F7FFFFF, 0x00400000, 0xFF812345};
  static constexpr std::uint16_t kHalves[] = {0x7C01, 0x7FFF, 0xFE00, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x0001,
                                              0x83FF, 0x7BFF, 0x7F80, 0xFF80, 0x7FC1, 0x7F81, 0x7F7F, 0x0080};
  static constexpr std::uint64_t kDoubles[] = {0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF, 0xFFF8000000000000,
                                               0x7FF0000000000000, 0xFFF0000000000000, 0x0000000000000000,
                                               0x8000000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF,
                                               0x7FEFFFFFFFFFFFFF, 0x7FFFFFFF7FFFFFFF, 0xFFFFFFFF80000000};
  static constexpr std::uint8_t kBytes[] = {0x00, 0x80, 0x7F, 0xFF, 0x7E, 0xFE, 0x7C, 0xFC, 0x7B, 0x7D, 0x01, 0x81, 0x38, 0x3C};
  if (bytes_per_number == 1) return kBytes[draw % std::size(kBytes)];
  if (bytes_per_number == 2) return kHalves[draw % std::size(kHalves)];
  if (bytes_per_number == 4) return kFloats[draw % std::size(kFloats)];
  return kDoubles[draw % std::size(kDoubles)];
}

// Random bits; one number in `one_in` is an awkward one, and one in three near 1, so that sums round and cancel.
inline void fill_numbers(std::vector<std::byte>& memory, std::size_t bytes_per_number, std::uint64_t seed, unsigned one_in) {
  Random random(seed);
  for (std::size_t at = 0; at + bytes_per_number <= memory.size(); at += bytes_per_number) {
    std::uint64_t bits = random.next();
    const std::uint64_t choice = random.next();
    if (choice % one_in == 0) {
      bits = awkward(bytes_per_number, bits);
    } else if (choice % 3 == 0 && bytes_per_number > 1) {
      const std::uint64_t near_one[] = {0x3C00, 0x3F800000, 0x3FF0000000000000};
      const std::uint64_t noise[] = {0x83FF, 0x81FFFFFF, 0x803FFFFFFFFFFFFF};
      const int which = bytes_per_number == 2 ? 0 : bytes_per_number == 4 ? 1 : 2;
      bits = near_one[which] ^ (bits & noise[which]);
    }
    std::memcpy(memory.data() + at, &bits, bytes_per_number);
  }
}

// A type with one of its operations.
struct TypeAndOp {
  hcommDataType_t dtype;
  hcommRedOp_t op;
};

inline std::vector<TypeAndOp> all_types_and_ops() {
  std::vector<TypeAndOp> all;
  for (const hcommDataType_t dtype : combine_types()) {
    for (const hcommRedOp_t op : combine_ops(dtype)) all.push_back({dtype, op});
  }
  return all;
}

// Empty if equal, else where they first differ; Catch would print whole vectors.
template <class T>
std::string difference(const std::vector<T>& got, const std::vector<T>& expected) {
  if (got.size() != expected.size()) return "sizes differ";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != expected[i]) {
      return "element " + std::to_string(i) + " is " + std::to_string(static_cast<std::uint64_t>(got[i])) + ", expected " +
             std::to_string(static_cast<std::uint64_t>(expected[i]));
    }
  }
  return {};
}

// One element through a kernel: for the tests of meaning. Finished over so many ranks, or not (0).
template <class T>
T combined(CombineKernel kernel, std::initializer_list<T> values, int finished_over = 0) {
  std::vector<T> held(values);
  std::vector<CombineSource> sources;
  for (const T& value : held) sources.push_back({.data = &value});
  T result{};
  const CombineTarget target{.data = &result, .finished_over = finished_over};
  kernel(sources, {&target, 1}, 1, Store::regular);
  return result;
}

// All of `from` through a kernel, in runs of so many elements: of 1, all of them are tails. Numbers of 4 bytes are partial.
template <class To, class From>
std::vector<To> converted(CombineKernel kernel, const std::vector<From>& from, std::size_t run) {
  std::vector<To> result(from.size());
  for (std::size_t at = 0; at < from.size(); at += run) {
    const std::size_t count = std::min(run, from.size() - at);
    const CombineSource source{.data = &from[at], .is_partial = sizeof(From) == 4};
    const CombineTarget target{.data = &result[at], .is_partial = sizeof(To) == 4};
    kernel({&source, 1}, {&target, 1}, count, Store::regular);
  }
  return result;
}

}  // namespace hcomm::test
