#include "perf_pattern.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "kernels/combine.h"
#include "kernels/float8.h"
#include "kernels/half.h"

namespace hcomm {
namespace {

constexpr int kMostFactors = 8;  // that are not one, of a product: 2^8 is a number in every float

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x7fb5d329728ea185u;
  value = (value ^ (value >> 27)) * 0x81dadef4bc2dd44du;
  return value ^ (value >> 33);
}

std::uint64_t hash_of(int rank, std::size_t place) {
  return mix((static_cast<std::uint64_t>(rank) << 32) + place + 0x9e3779b97f4a7c15u);
}

// Whole numbers up to it are exact in the type and, for all but the 8-bit floats, in the narrowest other one.
int most_exact(hcommDataType_t dtype) {
  if (dtype == hcommFloat8e5m2) return 8;
  return dtype == hcommFloat8e4m3 ? 16 : 256;
}

// Whether this rank is one of the at most `most` that matter at a place.
bool matters(int rank, std::size_t place, int ranks, int most) {
  const auto sharers = static_cast<std::uint64_t>((ranks + most - 1) / most);
  return (static_cast<std::uint64_t>(rank) + place) % sharers == 0;
}

// Whole, small, and zero on most ranks when there are more ranks than exact numbers.
int small_value(hcommDataType_t dtype, std::uint64_t hash, int rank, std::size_t place, hcommRedOp_t op, int ranks) {
  const int exact = most_exact(dtype);
  if (op == hcommMin || op == hcommMax) return static_cast<int>(hash % static_cast<std::uint64_t>(2 * exact + 1)) - exact;
  if (!matters(rank, place, ranks, exact)) return 0;
  const int most = std::max(1, exact / ranks);
  return static_cast<int>(hash % static_cast<std::uint64_t>(2 * most + 1)) - most;
}

// A power of two, and one on most ranks.
float small_factor(std::uint64_t hash, int rank, std::size_t place, int ranks) {
  constexpr float kSizes[] = {1, 2, 1, 0.5F};
  const float size = matters(rank, place, ranks, kMostFactors) ? kSizes[hash & 3] : 1;
  return (hash & 4) != 0 ? -size : size;
}

void store_float(std::byte* target, hcommDataType_t dtype, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::uint64_t narrow = bits;
  if (dtype == hcommFloat16) narrow = float16_narrow(bits);
  if (dtype == hcommBfloat16) narrow = bfloat16_narrow(bits);
  if (dtype == hcommFloat8e4m3) narrow = float8_narrow<Float8e4m3Bits>(bits);
  if (dtype == hcommFloat8e5m2) narrow = float8_narrow<Float8e5m2Bits>(bits);
  const bool is_double = dtype == hcommFloat64 || dtype == hcommComplex128;
  if (is_double) narrow = std::bit_cast<std::uint64_t>(static_cast<double>(value));
  const bool is_single = dtype == hcommFloat32 || dtype == hcommComplex64;
  std::memcpy(target, &narrow, is_double ? 8 : is_single ? 4 : element_bytes(dtype));
}

// A power of 2 + i: its parts are never zero, with a sign that would tell the order.
void store_complex(std::byte* target, const TypeName& type, hcommRedOp_t op, int ranks, int rank, std::size_t place) {
  const std::uint64_t hash = hash_of(rank, place);
  float parts[2] = {1, 0};
  if (op != hcommProd) {
    parts[0] = static_cast<float>(small_value(type.dtype, hash, rank, place, op, ranks));
    parts[1] = static_cast<float>(small_value(type.dtype, mix(hash), rank, place, op, ranks));
  } else if (matters(rank, place, ranks, kMostFactors) && (hash & 1) != 0) {
    parts[0] = 2;
    parts[1] = 1;
  }
  store_float(target, type.dtype, parts[0]);
  store_float(target + type.bytes / 2, type.dtype, parts[1]);
}

// Integers use all bits, bools are 0 as often as not.
void store_contribution(std::byte* target, const TypeName& type, hcommRedOp_t op, int ranks, int rank, std::size_t place) {
  const std::uint64_t hash = hash_of(rank, place);
  if (type.dtype == hcommComplex64 || type.dtype == hcommComplex128) {
    store_complex(target, type, op, ranks, rank, place);
  } else if (type.name.find("float") == std::string_view::npos) {
    const std::uint64_t bits = type.dtype == hcommBool && hash >> 63 != 0 ? 0 : hash;
    std::memcpy(target, &bits, type.bytes);  // little endian, as all that hcomm runs on
  } else {
    store_float(target, type.dtype,
                op == hcommProd ? small_factor(hash, rank, place, ranks)
                                : static_cast<float>(small_value(type.dtype, hash, rank, place, op, ranks)));
  }
}

static_assert(std::endian::native == std::endian::little);

// Calls with each run of elements that is contiguous both in the buffer and in a period: (offset in the buffer, place in the
// period, elements).
template <class Visit>
void each_run(std::size_t elements, std::size_t first, std::uint64_t salt, Visit visit) {
  std::size_t place = (first + static_cast<std::size_t>(salt % Pattern::kPeriod) * 7919) % Pattern::kPeriod;
  for (std::size_t done = 0; done < elements;) {
    const std::size_t run = std::min(Pattern::kPeriod - place, elements - done);
    visit(done, place, run);
    done += run;
    place = 0;
  }
}

std::uint64_t differences(ConstBytes got, const std::vector<std::byte>& table, std::size_t width, std::size_t first,
                          std::uint64_t salt) {
  std::uint64_t wrong = 0;
  each_run(got.size() / width, first, salt, [&](std::size_t done, std::size_t place, std::size_t run) {
    const std::byte* const left = got.data() + done * width;
    const std::byte* const right = table.data() + place * width;
    if (std::memcmp(left, right, run * width) == 0) return;
    for (std::size_t i = 0; i < run; ++i) wrong += std::memcmp(left + i * width, right + i * width, width) != 0 ? 1 : 0;
  });
  return wrong;
}

}  // namespace

Pattern::Pattern(TypeName type, hcommRedOp_t op, int ranks)
    : type_(type), op_(op), ranks_(ranks), reduced_(kPeriod * type.bytes) {
  if (!has_op(type.dtype, op)) return;  // for what is only moved
  const CombineKernel combine = find_combine(type.dtype, op, "scalar").value();
  std::vector<std::byte> so_far(kPeriod * partial_bytes(type.dtype, op));
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<std::byte> own = table_of(rank);
    const CombineSource sources[] = {{.data = own.data()}, {.data = so_far.data(), .is_partial = true}};
    const CombineTarget target{.data = so_far.data(), .is_partial = true};
    combine(std::span(sources).first(rank == 0 ? 1 : 2), {&target, 1}, kPeriod, Store::regular);
  }
  const CombineSource all{.data = so_far.data(), .is_partial = true};
  const CombineTarget target{.data = reduced_.data(), .finished_over = ranks};
  combine({&all, 1}, {&target, 1}, kPeriod, Store::regular);
}

std::vector<std::byte> Pattern::table_of(int rank) const {
  std::vector<std::byte> table(kPeriod * type_.bytes);
  for (std::size_t place = 0; place < kPeriod; ++place) {
    store_contribution(table.data() + place * type_.bytes, type_, op_, ranks_, rank, place);
  }
  return table;
}

void Pattern::fill(Bytes target, int rank, std::size_t first, std::uint64_t salt) const {
  const std::vector<std::byte> table = table_of(rank);
  each_run(target.size() / type_.bytes, first, salt, [&](std::size_t done, std::size_t place, std::size_t run) {
    std::memcpy(target.data() + done * type_.bytes, table.data() + place * type_.bytes, run * type_.bytes);
  });
}

std::uint64_t Pattern::count_wrong(ConstBytes got, int rank, std::size_t first, std::uint64_t salt) const {
  return differences(got, table_of(rank), type_.bytes, first, salt);
}

std::uint64_t Pattern::count_wrong_reduction(ConstBytes got, std::size_t first, std::uint64_t salt) const {
  return differences(got, reduced_, type_.bytes, first, salt);
}

}  // namespace hcomm
