// What the operations mean for each type: B007 (products), B008 (small integers wrap), B010 (bool), B029 (means of
// integers), logic, bits, complex numbers.
#include "kernels/elements.h"

#include <catch2/catch.hpp>

#include <climits>
#include <cmath>
#include <complex>

#include "support.h"

namespace hcomm::test {
namespace {

// One element of each rank, and the finished result of all.
template <class T>
T result_of(hcommDataType_t dtype, hcommRedOp_t op, std::string_view set, std::initializer_list<T> values) {
  return combined<T>(kernel_of(dtype, op, set), values, static_cast<int>(values.size()));
}

template <class T>
T mean(hcommDataType_t dtype, std::string_view set, std::initializer_list<T> values) {
  return result_of(dtype, hcommAvg, set, values);
}

struct NamedOp {
  hcommRedOp_t op;
  bool (*of)(int trues, int ranks);
};

bool all_of(int trues, int ranks) { return trues == ranks; }
bool any_of(int trues, int) { return trues > 0; }
bool odd(int trues, int) { return trues % 2 == 1; }

// Ranks with a zero, or with an awkward number that is none.
template <class T>
void check_logic(hcommDataType_t dtype, std::initializer_list<NamedOp> ops, std::string_view set) {
  constexpr T kTrue[] = {1, static_cast<T>(2), static_cast<T>(~T{0}), static_cast<T>(T{1} << (sizeof(T) * 8 - 1)), 4};
  for (unsigned ranks = 1; ranks <= 5; ++ranks) {
    for (unsigned mask = 0; mask < 1u << ranks; ++mask) {
      T held[5];
      std::vector<CombineSource> sources;
      for (unsigned rank = 0; rank < ranks; ++rank) {
        held[rank] = (mask >> rank & 1) != 0 ? kTrue[rank] : T{0};
        sources.push_back({.data = &held[rank]});
      }
      for (const NamedOp& each : ops) {
        T result = 77;
        const CombineTarget target{.data = &result, .finished_over = static_cast<int>(ranks)};
        kernel_of(dtype, each.op, set)(sources, {&target, 1}, 1, Store::regular);
        INFO(name(dtype) << ' ' << name(each.op) << ' ' << set << " ranks " << ranks << " mask " << mask);
        CHECK(result == static_cast<T>(each.of(std::popcount(mask), static_cast<int>(ranks))));
      }
    }
  }
}

}  // namespace

TEST_CASE("B007: products of special values") {
  const float infinity = HUGE_VALF;
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    CHECK(std::isnan(result_of<float>(hcommFloat32, hcommProd, set, {infinity, 0, 1})));
    CHECK(std::isnan(result_of<float>(hcommFloat32, hcommProd, set, {2, NAN, 0})));
    CHECK(result_of<float>(hcommFloat32, hcommProd, set, {-infinity, 2, -3}) == infinity);
    CHECK(std::signbit(result_of<double>(hcommFloat64, hcommProd, set, {-0.0, 2, 3})));
    CHECK(!std::signbit(result_of<double>(hcommFloat64, hcommProd, set, {-0.0, -2, 3})));
    CHECK(result_of<double>(hcommFloat64, hcommProd, set, {1e200, 1e200}) == HUGE_VAL);
    CHECK(result_of<std::uint16_t>(hcommFloat16, hcommProd, set, {0x3E00, 0xC000, 0x4000}) == 0xC600);  // 1.5 * -2 * 2
    CHECK(result_of<std::uint16_t>(hcommBfloat16, hcommProd, set, {0x3FC0, 0xC000}) == 0xC040);
    CHECK(result_of<std::uint16_t>(hcommFloat16, hcommProd, set, {0x5C00, 0x5C00, 0x2C00}) == 0x6C00);  // 2^16 on the way
    CHECK(std::isnan(mean<float>(hcommFloat32, set, {infinity, -infinity})));
    CHECK(mean<float>(hcommFloat32, set, {infinity, 1}) == infinity);
  }
}

TEST_CASE("B008: integers of every size wrap in sums and products") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    CHECK(result_of<std::int8_t>(hcommInt8, hcommSum, set, {100, 100, 100}) == 44);
    CHECK(result_of<std::int8_t>(hcommInt8, hcommProd, set, {-128, -1}) == -128);
    CHECK(result_of<std::uint8_t>(hcommUint8, hcommSum, set, {200, 57}) == 1);
    CHECK(result_of<std::uint8_t>(hcommUint8, hcommProd, set, {16, 17}) == 16);
    CHECK(result_of<std::int16_t>(hcommInt16, hcommSum, set, {SHRT_MIN, -1}) == SHRT_MAX);
    CHECK(result_of<std::uint16_t>(hcommUint16, hcommProd, set, {65535, 65535}) == 1);
    CHECK(result_of<std::uint32_t>(hcommUint32, hcommSum, set, {UINT_MAX, 2}) == 1);
    CHECK(result_of<std::int32_t>(hcommInt32, hcommProd, set, {INT_MIN, 3}) == INT_MIN);
    CHECK(result_of<std::int64_t>(hcommInt64, hcommProd, set, {LLONG_MAX, 2, 3}) == -6);
    CHECK(result_of<std::uint64_t>(hcommUint64, hcommProd, set, {1ull << 63, 2}) == 0);
    CHECK(result_of<std::uint8_t>(hcommUint8, hcommMax, set, {127, 200, 3}) == 200);
    CHECK(result_of<std::int8_t>(hcommInt8, hcommMax, set, {127, -56, 3}) == 127);
    CHECK(result_of<std::uint16_t>(hcommUint16, hcommMin, set, {40000, 30000}) == 30000);
    CHECK(result_of<std::uint32_t>(hcommUint32, hcommMax, set, {1, UINT_MAX}) == UINT_MAX);
    CHECK(result_of<std::uint64_t>(hcommUint64, hcommMin, set, {~0ull, 1ull << 63}) == 1ull << 63);
  }
}

TEST_CASE("B029: the mean of integers is exact and rounded toward zero") {
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    CHECK(mean<std::int8_t>(hcommInt8, set, {127, 127, 127}) == 127);  // the sum does not fit
    CHECK(mean<std::int8_t>(hcommInt8, set, {-128, -128, -127}) == -127);
    CHECK(mean<std::int8_t>(hcommInt8, set, {-1, 0}) == 0);
    CHECK(mean<std::uint8_t>(hcommUint8, set, {255, 255, 254}) == 254);
    CHECK(mean<std::int16_t>(hcommInt16, set, {-3, -4}) == -3);
    CHECK(mean<std::uint16_t>(hcommUint16, set, {65535, 65535}) == 65535);
    CHECK(mean<std::int32_t>(hcommInt32, set, {INT_MAX, INT_MAX, INT_MAX - 2}) == INT_MAX - 1);
    CHECK(mean<std::int32_t>(hcommInt32, set, {INT_MIN, INT_MIN, 1, 0}) == INT_MIN / 2 + 1);
    CHECK(mean<std::uint32_t>(hcommUint32, set, {UINT_MAX, UINT_MAX}) == UINT_MAX);
    CHECK(mean<std::int64_t>(hcommInt64, set, {LLONG_MIN, LLONG_MIN, LLONG_MIN}) == LLONG_MIN);
    CHECK(mean<std::int64_t>(hcommInt64, set, {LLONG_MAX, LLONG_MIN, 0, 0}) == 0);
    CHECK(mean<std::uint64_t>(hcommUint64, set, {~0ull, ~0ull, ~0ull - 2}) == ~0ull - 1);
    CHECK(mean<float>(hcommFloat32, set, {1, 2, 4}) == 7.0F / 3);
    CHECK(mean<std::uint16_t>(hcommFloat16, set, {0x7BFF, 0x7BFF, 0x7BFF}) == 0x7BFF);  // the sum does not fit
    CHECK(mean<std::uint16_t>(hcommBfloat16, set, {0x3F80, 0x4000}) == 0x3FC0);
  }
}

TEST_CASE("B010: a bool is true if it is not 0, and results are 0 or 1") {
  for (const std::string_view set : kernel_sets()) {
    check_logic<std::uint8_t>(hcommBool,
                              {{hcommSum, any_of}, {hcommMax, any_of}, {hcommLor, any_of}, {hcommBor, any_of},
                               {hcommProd, all_of}, {hcommMin, all_of}, {hcommLand, all_of}, {hcommBand, all_of},
                               {hcommLxor, odd}, {hcommBxor, odd}},
                              set);
  }
}

TEST_CASE("logic and bits of integers") {
  const std::initializer_list<NamedOp> logic = {{hcommLand, all_of}, {hcommLor, any_of}, {hcommLxor, odd}};
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    check_logic<std::uint8_t>(hcommUint8, logic, set);
    check_logic<std::uint8_t>(hcommInt8, logic, set);
    check_logic<std::uint16_t>(hcommInt16, logic, set);
    check_logic<std::uint32_t>(hcommUint32, logic, set);
    check_logic<std::uint64_t>(hcommInt64, logic, set);
    CHECK(result_of<std::uint8_t>(hcommUint8, hcommBand, set, {0xF1, 0x3F, 0xFF}) == 0x31);
    CHECK(result_of<std::uint16_t>(hcommInt16, hcommBor, set, {0x8001, 0x0110}) == 0x8111);
    CHECK(result_of<std::uint32_t>(hcommUint32, hcommBxor, set, {0xFFFF0000, 0x0F0F0F0F, 1}) == 0xF0F00F0E);
    CHECK(result_of<std::uint64_t>(hcommUint64, hcommBand, set, {1ull << 63 | 5, 1ull << 63 | 4}) == (1ull << 63 | 4));
    CHECK(result_of<std::uint64_t>(hcommInt64, hcommBor, set, {6}) == 6);
  }
}

TEST_CASE("complex numbers are added and divided by parts, and multiplied as a whole") {
  using Single = std::complex<float>;
  using Double = std::complex<double>;
  static_assert(sizeof(elements::Complex<float>) == sizeof(Single) && sizeof(elements::Complex<double>) == sizeof(Double));
  for (const std::string_view set : kernel_sets()) {
    INFO(set);
    CHECK(result_of<Single>(hcommComplex64, hcommSum, set, {{1, 2}, {3, -5}, {0.5F, 1}}) == Single(4.5F, -2));
    CHECK(result_of<Single>(hcommComplex64, hcommProd, set, {{1, 2}, {3, -5}}) == Single(13, 1));
    CHECK(result_of<Single>(hcommComplex64, hcommProd, set, {{0, 1}, {0, 1}, {0, 1}}) == Single(0, -1));
    CHECK(result_of<Double>(hcommComplex128, hcommAvg, set, {{1, 2}, {3, -5}}) == Double(2, -1.5));
    CHECK(result_of<Double>(hcommComplex128, hcommProd, set, {{1e200, 0}, {1e-200, 3}}) == Double(1, 3e200));
    CHECK(std::isnan(result_of<Single>(hcommComplex64, hcommSum, set, {{1, NAN}, {2, 2}}).imag()));
    CHECK(result_of<Single>(hcommComplex64, hcommSum, set, {{1, NAN}, {2, 2}}).real() == 3);
  }
}

}  // namespace hcomm::test
