// What numbers come out, for inputs with which other libraries were caught: wrong arguments, special values, overflow,
// rounding, repeatability. Method: every algorithm, ranks as threads (and as processes where a case is about them).
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "base/random.h"
#include "comm/processes.h"
#include "comm/world.h"
#include "kernels/combine.h"
#include "support.h"

namespace hcomm {
namespace {

using testing::algorithm_names;
using testing::allreduce_of;
using testing::expect;
using testing::settings_for;

// What each rank ended with, gathered from their threads.
class Collected {
 public:
  void add(int rank, const std::vector<std::byte>& bytes) {
    const std::lock_guard lock(mutex_);
    of_rank_[rank] = bytes;
  }
  const std::map<int, std::vector<std::byte>>& of_rank() const { return of_rank_; }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<std::byte>> of_rank_;
};

// An allreduce in which every element of a rank's input is the same.
struct Uniform {
  hcommDataType_t dtype;
  hcommRedOp_t op;
  std::vector<std::uint64_t> bits;  // of each rank's element
};

std::vector<std::byte> elements(std::uint64_t bits, std::size_t count, hcommDataType_t dtype) {
  const std::size_t size = element_bytes(dtype);
  std::vector<std::byte> memory(size * count);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(memory.data() + i * size, &bits, size);
  return memory;
}

std::uint64_t first_element(const std::vector<std::byte>& memory, hcommDataType_t dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, memory.data(), element_bytes(dtype));
  return bits;
}

// The bits that all elements on all ranks end with; throws if they are not all the same.
std::uint64_t common_result(const std::vector<std::unique_ptr<Communicator>>& world, const Uniform& input, std::size_t count) {
  Collected results;
  testing::run_ranks(world, [&](Communicator& rank) {
    const auto send = elements(input.bits[static_cast<std::size_t>(rank.rank())], count, input.dtype);
    std::vector<std::byte> recv(send.size());
    testing::require(rank.run({.collective = Collective::allreduce, .send = send.data(), .recv = recv.data(), .count = count,
                               .dtype = input.dtype, .op = input.op}));
    results.add(rank.rank(), recv);
  });
  const std::uint64_t bits = first_element(results.of_rank().at(0), input.dtype);
  for (const auto& [rank, recv] : results.of_rank()) {
    expect(recv == elements(bits, count, input.dtype), "elements or ranks that differ, at rank " + std::to_string(rank));
  }
  return bits;
}

enum Special { zero, minus_zero, one, two, infinity, minus_infinity, nan_value };

std::uint64_t bits_of(hcommDataType_t dtype, Special value) {
  constexpr double values[] = {0.0, -0.0, 1, 2, HUGE_VAL, -HUGE_VAL, NAN};
  if (dtype == hcommFloat16) {
    constexpr std::uint64_t half[] = {0, 0x8000, 0x3c00, 0x4000, 0x7c00, 0xfc00, 0x7e00};
    return half[value];
  }
  std::uint64_t bits = 0;
  const double wide = values[value];
  if (dtype == hcommFloat64) {
    std::memcpy(&bits, &wide, sizeof wide);
  } else {
    const float narrow = static_cast<float>(wide);
    std::memcpy(&bits, &narrow, sizeof narrow);
    if (dtype == hcommBfloat16) bits >>= 16;
  }
  return bits;
}

bool is_nan(hcommDataType_t dtype, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * element_bytes(dtype) - 1);
  return (bits & ~sign) > bits_of(dtype, infinity);
}

struct SpecialRow {
  hcommRedOp_t op;
  Special inputs[3];
  Special expected;
};

constexpr SpecialRow kSpecialRows[] = {
    {hcommSum, {infinity, minus_infinity, zero}, nan_value},
    {hcommSum, {infinity, infinity, one}, infinity},
    {hcommSum, {nan_value, one, two}, nan_value},
    {hcommSum, {one, two, nan_value}, nan_value},
    {hcommSum, {minus_zero, minus_zero, minus_zero}, minus_zero},
    {hcommMax, {one, nan_value, two}, nan_value},
    {hcommMax, {nan_value, one, two}, nan_value},
    {hcommMin, {nan_value, nan_value, nan_value}, nan_value},
    {hcommMin, {one, minus_infinity, nan_value}, nan_value},
    {hcommMax, {minus_zero, zero, minus_zero}, zero},
    {hcommMin, {zero, minus_zero, zero}, minus_zero},
    {hcommMax, {minus_infinity, minus_infinity, minus_infinity}, minus_infinity},
    {hcommMin, {infinity, infinity, infinity}, infinity},
    {hcommProd, {infinity, zero, one}, nan_value},
    {hcommProd, {one, two, nan_value}, nan_value},
    {hcommProd, {two, minus_infinity, two}, minus_infinity},
    {hcommProd, {minus_zero, one, two}, minus_zero},
    {hcommAvg, {infinity, minus_infinity, one}, nan_value},
    {hcommAvg, {one, infinity, two}, infinity},
    {hcommAvg, {minus_zero, minus_zero, minus_zero}, minus_zero},
    {hcommAvg, {zero, one, two}, one},
};

// Numbers k / 2^scale that a 16-bit type holds exactly.
struct Half {
  hcommDataType_t dtype;
  int mantissa_bits;  // without the leading one
  int scale;
};
constexpr Half kHalves[] = {{hcommBfloat16, 7, 8}, {hcommFloat16, 10, 11}};

std::uint16_t encode(const Half& half, long k) {
  const float value = std::ldexp(static_cast<float>(k), -half.scale);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (k == 0 || half.dtype == hcommBfloat16) return static_cast<std::uint16_t>(bits >> 16);
  return static_cast<std::uint16_t>(((bits >> 23) - 127 + 15) << 10 | (bits >> 13 & 0x3ff));
}

double decode(const Half& half, std::uint16_t bits) {
  const int exponent_bits = 15 - half.mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> half.mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << half.mantissa_bits) - 1);
  if (exponent == 0) return std::ldexp(mantissa, 1 - bias - half.mantissa_bits);
  return std::ldexp(mantissa + (1 << half.mantissa_bits), exponent - bias - half.mantissa_bits);
}

// How far a result is from the exact sum, in units of its last place.
double error_in_ulps(const Half& half, double result, long exact_k) {
  const double exact = std::ldexp(static_cast<double>(exact_k), -half.scale);
  if (exact_k == 0) return result == 0 ? 0 : HUGE_VAL;
  return std::fabs(result - exact) / std::ldexp(1.0, std::ilogb(exact) - half.mantissa_bits);
}

// k of rank's element i: random in [0, 1), and every fourth element the stagnation case: one large, the others small.
long numerator(const Half& half, int rank, std::size_t i) {
  const long small = half.dtype == hcommFloat16 ? 1L << half.scale : 1L << (half.scale - 1);  // 2048 + 1s, 256 + 0.5s
  if (i % 4 == 0) return rank == 0 ? 1L << (half.mantissa_bits + 1 + half.scale) : small;
  return static_cast<long>(Random(i * 64 + static_cast<std::size_t>(rank)).below(1u << half.scale));
}

double worst_error(const std::vector<std::unique_ptr<Communicator>>& world, const Half& half) {
  constexpr std::size_t kCount = 2000;
  Collected results;
  testing::run_ranks(world, [&](Communicator& rank) {
    std::vector<std::uint16_t> send(kCount), recv(kCount);
    for (std::size_t i = 0; i < kCount; ++i) send[i] = encode(half, numerator(half, rank.rank(), i));
    testing::require(rank.run({.collective = Collective::allreduce, .send = send.data(), .recv = recv.data(), .count = kCount,
                               .dtype = half.dtype, .op = hcommSum}));
    const auto bytes = std::as_bytes(std::span(recv));
    results.add(rank.rank(), {bytes.begin(), bytes.end()});
  });
  double worst = 0;
  const auto& first = results.of_rank().at(0);
  for (std::size_t i = 0; i < kCount; ++i) {
    long exact = 0;
    for (std::size_t rank = 0; rank < world.size(); ++rank) exact += numerator(half, static_cast<int>(rank), i);
    std::uint16_t bits = 0;
    std::memcpy(&bits, first.data() + 2 * i, sizeof bits);
    worst = std::max(worst, error_in_ulps(half, decode(half, bits), exact));
  }
  for (const auto& [rank, bytes] : results.of_rank()) expect(bytes == first, "ranks with different bits");
  return worst;
}

// Sums whose bits tell the order in which they were added. The hash of the result, as text.
std::string hash_of_sum(Communicator& rank, std::size_t count) {
  Random random(1000 + static_cast<std::uint64_t>(rank.rank()));
  std::vector<float> send(count), recv(count);
  for (float& each : send) each = static_cast<float>(random.unit() - 0.5) * static_cast<float>(1u << random.below(20));
  testing::require(rank.run(allreduce_of(send, recv)));
  const std::string_view bytes(reinterpret_cast<const char*>(recv.data()), recv.size() * sizeof(float));
  return std::to_string(std::hash<std::string_view>()(bytes));
}

// All hashes of `repeats` sums, each after a pause of its own; a single one if they are all alike.
std::string hashes_of_repeats(Communicator& rank, int repeats, std::size_t count) {
  Random pauses(static_cast<std::uint64_t>(getpid()) + static_cast<std::uint64_t>(rank.rank()));
  std::set<std::string> hashes;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    if (pauses.below(4) == 0) usleep(static_cast<useconds_t>(pauses.below(2000)));
    hashes.insert(hash_of_sum(rank, count));
  }
  std::string all;
  for (const std::string& hash : hashes) all += hash + " ";
  return all;
}

}  // namespace

TEST_CASE("B005 each wrong argument is refused by name, and the next call is right") {
  testing::run_world(3, settings_for("adaptive", "shm"), [](Communicator& rank) {
    int send[64] = {1}, recv[64];
    for (const Collective collective : kCollectives) {
      if (collective == Collective::barrier) continue;
      const CollectiveCall good{.collective = collective, .send = send, .recv = recv, .count = 4, .dtype = hcommInt32};
      const auto refused = [&](const CollectiveCall& call, std::string_view word) {
        const Status status = rank.run(call);
        expect(status.code() == hcommInvalidArgument && status.trail().find(word) != std::string_view::npos,
               "not refused for its " + std::string(word) + ": " + std::string(status.trail()));
      };
      CollectiveCall bad = good;
      bad.count = ~std::size_t{0};
      refused(bad, "count");
      bad = good;
      bad.dtype = static_cast<hcommDataType_t>(99);
      refused(bad, "dtype 99");
      bad = good;
      bad.recv = nullptr;
      if (has_output(collective, rank.rank() == good.root)) refused(bad, "recv");
      bad = good;
      bad.op = static_cast<hcommRedOp_t>(77);
      if (reduces(collective)) refused(bad, "op 77");
      for (const int root : {-1, 3}) {
        bad = good;
        bad.root = root;
        if (has_root(collective)) refused(bad, "root " + std::to_string(root));
      }
      testing::require(rank.run(good));
      testing::sum_of_one(rank, rank.rank() + 1, 6, 7);
    }
  });
}

TEST_CASE("B007 special values give the same on every rank, element and algorithm") {
  for (const std::string_view algorithm : algorithm_names()) {
    const auto world = testing::make_world(3, settings_for(algorithm, "loopback"));
    for (const hcommDataType_t dtype : {hcommFloat32, hcommFloat64, hcommFloat16, hcommBfloat16}) {
      for (std::size_t row = 0; row < std::size(kSpecialRows); ++row) {
        const auto& [op, inputs, expected] = kSpecialRows[row];
        Uniform input{dtype, op, {}};
        for (const Special each : inputs) input.bits.push_back(bits_of(dtype, each));
        for (const std::size_t count : {std::size_t{1}, std::size_t{77}}) {
          INFO(algorithm << ", type " << dtype << ", row " << row << ", count " << count);
          const std::uint64_t result = common_result(world, input, count);
          if (expected == nan_value) {
            CHECK(is_nan(dtype, result));
          } else {
            CHECK(result == bits_of(dtype, expected));
          }
        }
      }
    }
  }
}

TEST_CASE("B008 integer sums wrap around, alike everywhere") {
  constexpr std::uint64_t kMost32 = INT32_MAX, kMost64 = INT64_MAX;
  for (const std::string_view algorithm : algorithm_names()) {
    INFO(algorithm);
    const auto world = testing::make_world(3, settings_for(algorithm, "loopback"));
    for (const std::size_t count : {std::size_t{1}, std::size_t{77}}) {
      CHECK(common_result(world, {hcommInt32, hcommSum, {kMost32, 1, 0}}, count) == 0x80000000u);
      CHECK(common_result(world, {hcommInt32, hcommSum, {0x80000000u, 0x80000000u, 5}}, count) == 5);
      CHECK(common_result(world, {hcommInt64, hcommSum, {kMost64, kMost64, kMost64}}, count) == 3 * kMost64);
      CHECK(common_result(world, {hcommInt64, hcommSum, {std::uint64_t{1} << 63, ~std::uint64_t{0}, 0}}, count) == kMost64);
      CHECK(common_result(world, {hcommInt8, hcommSum, {100, 100, 100}}, count) == 44);
      CHECK(common_result(world, {hcommUint8, hcommProd, {100, 100, 3}}, count) == 30000 % 256);
      CHECK(common_result(world, {hcommInt64, hcommProd, {kMost64, kMost64, 2}}, count) == 2);
    }
  }
}

TEST_CASE("B010 a bool is summed by or, whatever stands for true") {
  for (const std::string_view algorithm : algorithm_names()) {
    INFO(algorithm);
    const auto world = testing::make_world(3, settings_for(algorithm, "loopback"));
    for (const hcommRedOp_t op : {hcommSum, hcommMax, hcommLor}) {
      CHECK(common_result(world, {hcommBool, op, {1, 1, 1}}, 77) == 1);
      CHECK(common_result(world, {hcommBool, op, {0, 0x80, 0}}, 77) == 1);
      CHECK(common_result(world, {hcommBool, op, {128, 128, 0}}, 77) == 1);
      CHECK(common_result(world, {hcommBool, op, {0, 0, 0}}, 77) == 0);
    }
    for (const hcommRedOp_t op : {hcommProd, hcommMin, hcommLand}) {
      CHECK(common_result(world, {hcommBool, op, {1, 2, 4}}, 77) == 1);
      CHECK(common_result(world, {hcommBool, op, {1, 0, 255}}, 77) == 0);
    }
    CHECK(common_result(world, {hcommBool, hcommLxor, {3, 5, 9}}, 77) == 1);
  }
}

TEST_CASE("B029 the average of integers is exact, rounded toward zero, and does not overflow on the way") {
  constexpr std::uint64_t kMost64 = INT64_MAX;
  for (const std::string_view algorithm : algorithm_names()) {
    INFO(algorithm);
    const auto world = testing::make_world(3, settings_for(algorithm, "loopback"));
    for (const std::size_t count : {std::size_t{1}, std::size_t{77}, std::size_t{5003}}) {
      CHECK(common_result(world, {hcommInt8, hcommAvg, {127, 127, 126}}, count) == 126);
      CHECK(common_result(world, {hcommInt8, hcommAvg, {0xff, 0xff, 0}}, count) == 0);  // -2 / 3
      CHECK(common_result(world, {hcommUint8, hcommAvg, {255, 255, 255}}, count) == 255);
      CHECK(common_result(world, {hcommInt32, hcommAvg, {INT32_MAX, INT32_MAX, INT32_MAX}}, count) == INT32_MAX);
      CHECK(common_result(world, {hcommInt64, hcommAvg, {kMost64, kMost64, kMost64 - 3}}, count) == kMost64 - 1);
      CHECK(common_result(world, {hcommUint64, hcommAvg, {kMost64 + 1, kMost64 + 1, 2}}, count) == 0x5555555555555556);
    }
  }
}

// flat and direct see all contributions at once and round once: half a unit in the last place. The others round at most once
// a step, and there are at most ranks - 1 of them.
TEST_CASE("B011 sums of 16-bit floats keep their bound at 4 to 32 ranks") {
  for (const std::string_view algorithm : algorithm_names()) {
    for (const int ranks : {4, 8, 16, 32}) {
      const auto world = testing::make_world(ranks, settings_for(algorithm, "loopback"));
      for (const Half& half : kHalves) {
        const double worst = worst_error(world, half);
        INFO(algorithm << ", " << ranks << " ranks, type " << half.dtype << ": " << worst << " units in the last place");
        const bool rounds_once = algorithm == "flat" || algorithm == "direct";
        CHECK(worst <= (rounds_once ? 0.5 : 0.5 * (ranks - 1)));
      }
    }
  }
}

// Settings that fix the algorithm fix the bits: whoever comes first, over either transport, in any process.
TEST_CASE("B013 a hundred repeats of a float sum have one hash") {
  constexpr std::size_t kCount = 100'003;
  for (const std::string_view algorithm : algorithm_names()) {
    std::set<std::string> hashes;
    for (int batch = 0; batch < 3; ++batch) {
      const auto ended = testing::run_processes(3, settings_for(algorithm, "shm"), [&](Communicator& rank) {
        return hashes_of_repeats(rank, 30, kCount);
      });
      for (const auto& each : ended) hashes.insert(each.report);
    }
    std::mutex mutex;
    testing::run_world(3, settings_for(algorithm, "loopback"), [&](Communicator& rank) {
      const std::string own = hashes_of_repeats(rank, 10, kCount);
      const std::lock_guard lock(mutex);
      hashes.insert(own);
    });
    INFO(algorithm << ": " << *hashes.begin());
    CHECK(hashes.size() == 1);
    CHECK(std::count(hashes.begin()->begin(), hashes.begin()->end(), ' ') == 1);
  }
}

}  // namespace hcomm
