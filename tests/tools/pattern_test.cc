// Goal: `hcomm perf` sees every wrong bit, and never cries wolf. Method: reductions done here, in several orders and in the
// element type, must be what the pattern expects; spoiled, shifted and stale data must not.
#include "perf_pattern.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/combine.h"

namespace hcomm {
namespace {

const std::vector<TypeName> kTypes = {{"int32", "", hcommInt32, 4},       {"int64", "", hcommInt64, 8},
                                      {"float16", "", hcommFloat16, 2},   {"bfloat16", "", hcommBfloat16, 2},
                                      {"float32", "", hcommFloat32, 4},   {"float64", "", hcommFloat64, 8}};

using Buffer = std::vector<std::byte>;

Buffer filled(const Pattern& pattern, const TypeName& type, std::size_t count, int rank, std::size_t first, std::uint64_t salt) {
  Buffer buffer(count * type.bytes);
  pattern.fill(buffer, rank, first, salt);
  return buffer;
}

template <class T>
T element(const Buffer& buffer, std::size_t at) {
  T value;
  std::memcpy(&value, buffer.data() + at * sizeof(T), sizeof(T));
  return value;
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double size = exponent == 0 ? std::ldexp(bits & 1023, -24) : std::ldexp((bits & 1023) + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

double float_value(const TypeName& type, const Buffer& buffer, std::size_t at) {
  if (type.dtype == hcommFloat64) return element<double>(buffer, at);
  if (type.dtype == hcommFloat32) return element<float>(buffer, at);
  const auto bits = element<std::uint16_t>(buffer, at);
  if (type.dtype == hcommFloat16) return half_value(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

TEST_CASE("float contributions are whole, and no partial sum needs more than eight bits") {
  for (const TypeName& type : kTypes) {
    if (type.dtype == hcommInt32 || type.dtype == hcommInt64) continue;
    for (const int ranks : {1, 2, 3, 7, 256, 257, 1000}) {
      const Pattern pattern(type, hcommSum, ranks);
      std::vector<double> sizes(50);
      for (int rank = 0; rank < ranks; ++rank) {
        const Buffer own = filled(pattern, type, sizes.size(), rank, 0, 0);
        for (std::size_t at = 0; at < sizes.size(); ++at) {
          const double value = float_value(type, own, at);
          REQUIRE(value == std::round(value));
          sizes[at] += std::abs(value);
        }
      }
      INFO(type.name << " " << ranks << " ranks");
      CHECK(*std::max_element(sizes.begin(), sizes.end()) <= 256);
      CHECK(*std::max_element(sizes.begin(), sizes.end()) > 0);
    }
  }
}

// In rank order or the other way round, each step in T.
template <class T, class Combine>
Buffer reduced(const Pattern& pattern, const TypeName& type, int ranks, std::size_t count, std::size_t first, bool backwards,
               Combine combine) {
  Buffer sum = filled(pattern, type, count, backwards ? ranks - 1 : 0, first, 3);
  for (int step = 1; step < ranks; ++step) {
    const Buffer own = filled(pattern, type, count, backwards ? ranks - 1 - step : step, first, 3);
    for (std::size_t at = 0; at < count; ++at) {
      const T both = combine(element<T>(sum, at), element<T>(own, at));
      std::memcpy(sum.data() + at * sizeof(T), &both, sizeof(T));
    }
  }
  return sum;
}

template <class T>
T wrapping_sum(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(left) + static_cast<std::make_unsigned_t<T>>(right));
  } else {
    return left + right;
  }
}

template <class T>
void check_reductions(const TypeName& type) {
  for (const int ranks : {1, 2, 5, 300}) {
    for (const bool backwards : {false, true}) {
      const std::size_t first = 10'000;  // the run crosses the end of a period
      const Pattern sum(type, hcommSum, ranks);
      CHECK(sum.count_wrong_reduction(reduced<T>(sum, type, ranks, 100, first, backwards, wrapping_sum<T>), first, 3) == 0);
      const Pattern least(type, hcommMin, ranks);
      CHECK(least.count_wrong_reduction(
                reduced<T>(least, type, ranks, 100, first, backwards, [](T a, T b) { return std::min(a, b); }), first, 3) == 0);
      const Pattern most(type, hcommMax, ranks);
      CHECK(most.count_wrong_reduction(
                reduced<T>(most, type, ranks, 100, first, backwards, [](T a, T b) { return std::max(a, b); }), first, 3) == 0);
    }
  }
}

TEST_CASE("reductions in any order are what is expected") {
  check_reductions<std::int32_t>(kTypes[0]);
  check_reductions<std::int64_t>(kTypes[1]);
  check_reductions<float>(kTypes[4]);
  check_reductions<double>(kTypes[5]);
}

// One rank after the other, as on a ring: in the format of partial results, and where sums may be elements, in elements.
Buffer reduced_backwards(const Pattern& pattern, const TypeName& type, hcommRedOp_t op, int ranks, std::size_t count, bool wide) {
  const CombineKernel combine = find_combine(type.dtype, op).value();
  Buffer so_far(count * (wide ? partial_bytes(type.dtype, op) : type.bytes));
  for (int rank = ranks - 1; rank >= 0; --rank) {
    const Buffer own = filled(pattern, type, count, rank, 10'000, 3);
    const CombineSource sources[] = {{.data = so_far.data(), .is_partial = wide}, {.data = own.data()}};
    const CombineTarget target{.data = so_far.data(), .is_partial = wide};
    combine(std::span(sources).subspan(rank == ranks - 1 ? 1 : 0), {&target, 1}, count, Store::regular);
  }
  Buffer result(count * type.bytes);
  const CombineSource all{.data = so_far.data(), .is_partial = wide};
  const CombineTarget target{.data = result.data(), .finished_over = ranks};
  combine({&all, 1}, {&target, 1}, count, Store::regular);
  return result;
}

TEST_CASE("every type and operation is reduced to what is expected, in an order that is not the pattern's") {
  for (const hcommDataType_t dtype : combine_types()) {
    const TypeName type{hcomm::name(dtype), "", dtype, element_bytes(dtype)};
    for (const hcommRedOp_t op : combine_ops(dtype)) {
      for (const int ranks : {1, 2, 5, 300}) {
        const bool is_narrow = dtype == hcommFloat8e5m2 || dtype == hcommBfloat16 || dtype == hcommComplex64;
        if (ranks == 300 && !is_narrow) continue;  // so many matter to the least exact ones
        INFO(type.name << ' ' << hcomm::name(op) << ", " << ranks << " ranks");
        const Pattern pattern(type, op, ranks);
        CHECK(pattern.count_wrong_reduction(reduced_backwards(pattern, type, op, ranks, 100, true), 10'000, 3) == 0);
        if (!sums_fit_elements(dtype, op)) continue;
        CHECK(pattern.count_wrong_reduction(reduced_backwards(pattern, type, op, ranks, 100, false), 10'000, 3) == 0);
      }
    }
  }
}

TEST_CASE("every wrong bit is one wrong element") {
  for (const TypeName& type : kTypes) {
    const Pattern pattern(type, hcommSum, 3);
    const Buffer right = filled(pattern, type, 500, 1, 77, 5);
    CHECK(pattern.count_wrong(right, 1, 77, 5) == 0);
    for (std::size_t bit = 0; bit < type.bytes * 8; ++bit) {
      Buffer wrong = right;
      wrong[250 * type.bytes + bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      CHECK(pattern.count_wrong(wrong, 1, 77, 5) == 1);
    }
  }
}

TEST_CASE("data of another rank, another call or another place is seen") {
  for (const TypeName& type : kTypes) {
    const Pattern pattern(type, hcommSum, 3);
    const std::size_t count = 20'000;
    const Buffer right = filled(pattern, type, count, 1, 0, 5);
    INFO(type.name);
    CHECK(pattern.count_wrong(right, 1, 0, 5) == 0);
    CHECK(pattern.count_wrong(right, 2, 0, 5) > count / 2);
    CHECK(pattern.count_wrong(right, 1, 0, 4) > count / 2);
    for (const std::size_t shift : {1, 64, 4096, 1 << 20}) CHECK(pattern.count_wrong(right, 1, shift, 5) > count / 2);
  }
}

}  // namespace
}  // namespace hcomm
