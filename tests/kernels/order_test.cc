// Goal: the order of evaluation is the documented one: the balanced binary tree, split at the largest power of two below n.
// Method: sums of numbers of very different size depend on the order; an explicit recursion in this test says what is right.
#include <catch2/catch.hpp>

#include <complex>
#include <functional>

#include "support.h"

namespace hcomm::test {
namespace {

constexpr std::size_t kElements = 21;  // vectors and a tail in every set

std::size_t largest_power_of_two_below(std::size_t n) {
  std::size_t power = 1;
  while (power * 2 < n) power *= 2;
  return power;
}

template <class T, class Op>
T tree_of(const std::vector<std::vector<T>>& sources, std::size_t element, std::size_t first, std::size_t count, Op op) {
  if (count == 1) return sources[first][element];
  const std::size_t left = largest_power_of_two_below(count);
  return op(tree_of(sources, element, first, left, op), tree_of(sources, element, first + left, count - left, op));
}

template <class T>
T number(double value) {
  return static_cast<T>(value);
}
template <>
std::complex<float> number(double value) {
  return {static_cast<float>(value), static_cast<float>(value / 3)};
}
template <>
std::complex<double> number(double value) {
  return {value, value / 3};
}

// For sums of very different sizes; for products near 1, lest they overflow.
template <class T>
std::vector<std::vector<T>> numbers_for(hcommRedOp_t op, std::size_t count) {
  Random random(count);
  std::vector<std::vector<T>> sources(count, std::vector<T>(kElements));
  for (std::vector<T>& source : sources) {
    for (T& value : source) {
      const auto scale = static_cast<double>(std::uint64_t{1} << random.below(30));
      value = number<T>(op == hcommSum ? (random.unit() - 0.5) * scale : 0.75 + random.unit() / 2);
    }
  }
  return sources;
}

template <class T, class Op>
void check_order(hcommDataType_t dtype, hcommRedOp_t operation, Op op) {
  std::size_t sensitive = 0;
  for (std::size_t count = 2; count <= 150; ++count) {
    const std::vector<std::vector<T>> data = numbers_for<T>(operation, count);
    std::vector<CombineSource> sources;
    for (const std::vector<T>& source : data) sources.push_back({.data = source.data()});
    std::vector<T> expected(kElements);
    for (std::size_t i = 0; i < kElements; ++i) {
      expected[i] = tree_of(data, i, 0, count, op);
      T in_sequence = data[0][i];
      for (std::size_t rank = 1; rank < count; ++rank) in_sequence = op(in_sequence, data[rank][i]);
      if (in_sequence != expected[i]) ++sensitive;
    }
    for (const std::string_view set : kernel_sets()) {
      std::vector<T> result(kElements);
      const CombineTarget target{.data = result.data()};
      kernel_of(dtype, operation, set)(sources, {&target, 1}, kElements, Store::regular);
      INFO(name(dtype) << ' ' << name(operation) << " set=" << set << " sources=" << count);
      CHECK(result == expected);
    }
  }
  CHECK(sensitive > 1000);  // else these numbers would let a wrong order pass
}

}  // namespace

TEST_CASE("the order is the balanced tree, split at the largest power of two below n") {
  check_order<float>(hcommFloat32, hcommSum, std::plus());
  check_order<double>(hcommFloat64, hcommSum, std::plus());
  check_order<float>(hcommFloat32, hcommProd, std::multiplies());
  check_order<double>(hcommFloat64, hcommProd, std::multiplies());
  check_order<std::complex<float>>(hcommComplex64, hcommSum, std::plus());
  check_order<std::complex<double>>(hcommComplex128, hcommProd, std::multiplies());
}

TEST_CASE("the order of three and of five, spelled out") {
  const float big = 16777216;  // 2^24: adding 1 to it is lost, adding 2 is not
  for (const std::string_view set : kernel_sets()) {
    const CombineKernel sum = kernel_of(hcommFloat32, hcommSum, set);
    CHECK(combined<float>(sum, {big, 1, 1}) == big);                 // (big + 1) + 1
    CHECK(combined<float>(sum, {1, 1, big}) == big + 2);             // (1 + 1) + big
    CHECK(combined<float>(sum, {big, 1, 1, 1}) == big + 2);          // (big + 1) + (1 + 1)
    CHECK(combined<float>(sum, {big, 1, 1, -big, 1}) == 2);          // ((big + 1) + (1 - big)) + 1; in sequence it is 1
  }
}

}  // namespace hcomm::test
