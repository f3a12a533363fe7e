#include "perf_pattern.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace hcomm {
namespace {

constexpr int kExact = 256;  // whole numbers up to it are exact in bfloat16, the narrowest

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x7fb5d329728ea185u;
  value = (value ^ (value >> 27)) * 0x81dadef4bc2dd44du;
  return value ^ (value >> 33);
}

std::uint64_t hash_of(int rank, std::size_t place) {
  return mix((static_cast<std::uint64_t>(rank) << 32) + place + 0x9e3779b97f4a7c15u);
}

// Of a float contribution: whole, small, and zero on most ranks when there are more ranks than kExact.
int small_value(int rank, std::size_t place, hcommRedOp_t op, int ranks) {
  const std::uint64_t hash = hash_of(rank, place);
  if (op != hcommSum) return static_cast<int>(hash % (2 * kExact + 1)) - kExact;
  const auto sharers = static_cast<std::uint64_t>((ranks + kExact - 1) / kExact);
  if ((static_cast<std::uint64_t>(rank) + place) % sharers != 0) return 0;
  const int most = std::max(1, kExact / ranks);
  return static_cast<int>(hash % static_cast<std::uint64_t>(2 * most + 1)) - most;
}

std::uint16_t half_of(int value) {
  if (value == 0) return 0;
  const auto size = static_cast<unsigned>(value < 0 ? -value : value);
  const int exponent = std::bit_width(size) - 1;
  const unsigned fraction = (size << (10 - exponent)) & 0x3ffu;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000u : 0u) | static_cast<unsigned>(exponent + 15) << 10 | fraction);
}

std::uint16_t bfloat_of(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

// A number's bits in the type; integers keep the low ones.
std::uint64_t bits_of(hcommDataType_t dtype, std::int64_t value) {
  const int small = static_cast<int>(value);
  if (dtype == hcommFloat16) return half_of(small);
  if (dtype == hcommBfloat16) return bfloat_of(small);
  if (dtype == hcommFloat32) return std::bit_cast<std::uint32_t>(static_cast<float>(small));
  if (dtype == hcommFloat64) return std::bit_cast<std::uint64_t>(static_cast<double>(small));
  return static_cast<std::uint64_t>(value);
}

bool is_whole(hcommDataType_t dtype) { return dtype == hcommInt32 || dtype == hcommInt64; }

// A contribution as a number that all reductions are computed with.
std::int64_t value_of(hcommDataType_t dtype, hcommRedOp_t op, int ranks, int rank, std::size_t place) {
  if (dtype == hcommInt32) return static_cast<std::int32_t>(hash_of(rank, place));
  if (dtype == hcommInt64) return static_cast<std::int64_t>(hash_of(rank, place));
  return small_value(rank, place, op, ranks);
}

std::int64_t combine_two(hcommRedOp_t op, std::int64_t left, std::int64_t right) {
  if (op == hcommMin) return std::min(left, right);
  if (op == hcommMax) return std::max(left, right);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
}

void store(std::byte* table, std::size_t place, const TypeName& type, std::int64_t value) {
  const std::uint64_t bits = bits_of(type.dtype, value);
  std::memcpy(table + place * type.bytes, &bits, type.bytes);  // little endian, as all that hcomm runs on
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
  for (std::size_t place = 0; place < kPeriod; ++place) {
    std::int64_t sum = value_of(type.dtype, op, ranks, 0, place);
    for (int rank = 1; rank < ranks; ++rank) sum = combine_two(op, sum, value_of(type.dtype, op, ranks, rank, place));
    HCOMM_ASSERT(is_whole(type.dtype) || (sum >= -kExact && sum <= kExact));
    store(reduced_.data(), place, type, sum);
  }
}

std::vector<std::byte> Pattern::table_of(int rank) const {
  std::vector<std::byte> table(kPeriod * type_.bytes);
  for (std::size_t place = 0; place < kPeriod; ++place) {
    store(table.data(), place, type_, value_of(type_.dtype, op_, ranks_, rank, place));
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
