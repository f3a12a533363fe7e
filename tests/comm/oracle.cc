#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "kernels/combine.h"
#include "schedule/binding.h"

namespace hcomm::testing {
namespace {

thread_local std::uint64_t salt_of_thread = 0;

__extension__ typedef __int128 Wide;  // holds every sum of 64-bit integers

// An element of any type; a type uses the fields that fit it.
struct Number {
  Wide whole = 0;
  double real = 0;
  double imaginary = 0;
};

bool is_integer(hcommDataType_t dtype) { return name(dtype).find("int") != std::string_view::npos; }
bool is_complex(hcommDataType_t dtype) { return dtype == hcommComplex64 || dtype == hcommComplex128; }
bool is_signed(hcommDataType_t dtype) { return name(dtype)[0] == 'i'; }

std::uint64_t drawn_bits(int rank, std::size_t i) {
  std::uint64_t mixed = salt_of_thread * 0xd6e8feb86659fd93u + (i + 1) * 0x9e3779b97f4a7c15u;
  mixed += static_cast<std::uint64_t>(rank + 1) * 0xc2b2ae3d27d4eb4fu;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 32)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 29);
}

// The low bits, as the type reads them.
Wide wrapped(hcommDataType_t dtype, std::uint64_t bits) {
  const std::size_t unused = 64 - 8 * element_bytes(dtype);
  const std::uint64_t high = bits << unused;
  return is_signed(dtype) ? Wide{static_cast<std::int64_t>(high) >> unused} : Wide{high >> unused};
}

// Any number, and often those at the ends of the range; for logic every second is 0.
Wide drawn_integer(const CollectiveCall& call, std::uint64_t bits) {
  const std::size_t unused = 64 - 8 * element_bytes(call.dtype);
  const std::uint64_t most = is_signed(call.dtype) ? ~std::uint64_t{0} >> (unused + 1) : ~std::uint64_t{0};
  const std::uint64_t edges[] = {most, most + 1, 0, ~std::uint64_t{0}};
  const bool is_logical = call.op == hcommLand || call.op == hcommLor || call.op == hcommLxor;
  if (is_logical && bits >> 63 != 0) return 0;
  if ((bits >> 56 & 7) == 0) return wrapped(call.dtype, edges[bits >> 60 & 3]);
  return wrapped(call.dtype, bits);
}

// Small whole numbers, whose sums are exact in every type but the 8-bit ones, and there in what they are summed in; powers of
// two for products, as often above 1 as below; and what swallows others whatever the order.
double drawn_float(const CollectiveCall& call, int rank, std::size_t i, std::uint64_t bits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (i % 23 == 5) return (bits >> 40 & 1) != 0 || call.op == hcommSum || call.op == hcommAvg ? -0.0 : 0.0;
  if (i % 29 == 7 && (bits >> 41 & 3) == 0) {
    const double specials[] = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 1};
    const double drawn = specials[bits >> 43 & 3];
    return std::isinf(drawn) && call.dtype == hcommFloat8e4m3 ? 1 : drawn;
  }
  if (call.op != hcommProd) return static_cast<double>(bits >> 60) - 8;
  const double size = (bits >> 60 & 1) != 0 ? 1 : rank % 2 == 0 ? 2 : 0.5;
  return (bits >> 61 & 1) != 0 ? -size : size;
}

Number contribution(const CollectiveCall& call, int rank, std::size_t i) {
  const std::uint64_t bits = drawn_bits(rank, i);
  if (call.dtype == hcommBool) return {.whole = bits >> 63 != 0 ? 0 : Wide{bits & 0xff}};
  if (is_integer(call.dtype)) return {.whole = drawn_integer(call, bits)};
  if (!is_complex(call.dtype)) return {.real = drawn_float(call, rank, i, bits)};
  if (call.op != hcommProd) {
    return {.real = static_cast<double>(bits >> 60) - 8, .imaginary = static_cast<double>(bits >> 50 & 15) - 8};
  }
  // No power of 2 + i has a part that is zero, whose sign would tell the order.
  const Number factor = (bits >> 60 & 1) != 0 ? Number{.real = 2, .imaginary = 1} : Number{.real = 3, .imaginary = 4};
  return (bits >> 61 & 1) != 0 ? Number{.real = -factor.real, .imaginary = -factor.imaginary} : factor;
}

Wide combined_integers(const CollectiveCall& call, Wide a, Wide b) {
  switch (call.op) {
    case hcommAvg:  return a + b;
    case hcommSum:  return wrapped(call.dtype, static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    case hcommProd: return wrapped(call.dtype, static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    case hcommMin:  return std::min(a, b);
    case hcommMax:  return std::max(a, b);
    case hcommLand: return a != 0 && b != 0;
    case hcommLor:  return a != 0 || b != 0;
    case hcommLxor: return (a != 0) != (b != 0);
    case hcommBand: return a & b;
    case hcommBor:  return a | b;
    case hcommBxor: return a ^ b;
  }
  throw std::logic_error("no such operation");
}

bool combined_bools(hcommRedOp_t op, bool a, bool b) {
  if (op == hcommProd || op == hcommMin || op == hcommLand || op == hcommBand) return a && b;
  return op == hcommLxor || op == hcommBxor ? a != b : a || b;
}

// fmin and fmax leave NaNs out and may take either zero.
double combined_floats(hcommRedOp_t op, double a, double b) {
  if (op == hcommSum || op == hcommAvg) return a + b;
  if (op == hcommProd) return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  const bool a_is_less = a < b || (a == b && std::signbit(a));
  return a_is_less == (op == hcommMin) ? a : b;
}

Number combined(const CollectiveCall& call, const Number& a, const Number& b) {
  if (is_complex(call.dtype) && call.op == hcommProd) {
    return {.real = a.real * b.real - a.imaginary * b.imaginary, .imaginary = a.real * b.imaginary + a.imaginary * b.real};
  }
  return {.whole = is_integer(call.dtype) ? combined_integers(call, a.whole, b.whole)
                                          : Wide{combined_bools(call.op, a.whole != 0, b.whole != 0)},
          .real = combined_floats(call.op, a.real, b.real),
          .imaginary = combined_floats(call.op, a.imaginary, b.imaginary)};
}

// In the type that the division is done in.
double divided(hcommDataType_t dtype, double sum, int ranks) {
  if (dtype == hcommFloat64 || dtype == hcommComplex128) return sum / ranks;
  return static_cast<double>(static_cast<float>(sum) / static_cast<float>(ranks));
}

Number finished(const CollectiveCall& call, const Number& all, int ranks) {
  const bool is_logical = call.op == hcommLand || call.op == hcommLor || call.op == hcommLxor;
  if (call.dtype == hcommBool || is_logical) return {.whole = all.whole != 0};
  if (call.op != hcommAvg) return all;
  return {.whole = all.whole / ranks,
          .real = divided(call.dtype, all.real, ranks),
          .imaginary = divided(call.dtype, all.imaginary, ranks)};
}

Number reduction(const CollectiveCall& call, int ranks, std::size_t i) {
  Number result = contribution(call, 0, i);
  for (int rank = 1; rank < ranks; ++rank) result = combined(call, result, contribution(call, rank, i));
  return finished(call, result, ranks);
}

// A float of few bits: the nearest there is, ties to even; what is too large becomes `infinity` (where there is none: NaN).
std::uint64_t encoded(double number, int mantissa_bits, int bias, std::uint64_t infinity, std::uint64_t nan, std::uint64_t sign) {
  if (std::isnan(number)) return nan;
  const std::uint64_t minus = std::signbit(number) ? sign : 0;
  const double size = std::fabs(number);
  if (std::isinf(size)) return minus | infinity;
  const int exponent = std::max(size == 0 ? 1 - bias : std::ilogb(size), 1 - bias);
  const double in_ulps = std::nearbyint(std::ldexp(size, mantissa_bits - exponent));  // at most twice the leading bit
  const auto steps = static_cast<std::uint64_t>(in_ulps);
  return minus | std::min((static_cast<std::uint64_t>(exponent + bias - 1) << mantissa_bits) + steps, infinity);
}

std::uint64_t float_bits(hcommDataType_t dtype, double number) {
  if (dtype == hcommFloat8e4m3) return encoded(number, 3, 7, 0x7f, 0x7f, 0x80);
  if (dtype == hcommFloat8e5m2) return encoded(number, 2, 15, 0x7c, 0x7e, 0x80);
  if (dtype == hcommFloat16) return encoded(number, 10, 15, 0x7c00, 0x7e00, 0x8000);
  if (dtype == hcommBfloat16) return encoded(number, 7, 127, 0x7f80, 0x7fc0, 0x8000);
  if (dtype == hcommFloat32 || dtype == hcommComplex64) return encoded(number, 23, 127, 0x7f800000, 0x7fc00000, 0x80000000);
  std::uint64_t bits = 0x7ff8000000000000;
  if (!std::isnan(number)) std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

void put(std::byte* memory, std::size_t index, hcommDataType_t dtype, const Number& number) {
  const std::size_t bytes = element_bytes(dtype);
  std::byte* const place = memory + index * bytes;
  if (is_integer(dtype) || dtype == hcommBool) {
    std::memcpy(place, &number.whole, bytes);  // little endian, as all that hcomm runs on
  } else if (is_complex(dtype)) {
    const std::uint64_t parts[] = {float_bits(dtype, number.real), float_bits(dtype, number.imaginary)};
    std::memcpy(place, &parts[0], bytes / 2);
    std::memcpy(place + bytes / 2, &parts[1], bytes / 2);
  } else {
    const std::uint64_t bits = float_bits(dtype, number.real);
    std::memcpy(place, &bits, bytes);
  }
}

// What all ranks of a world ask for, made once: element i of what one rank contributes, or of what becomes of all of them.
struct Wanted {
  hcommDataType_t dtype;
  hcommRedOp_t op;
  std::uint64_t salt;
  int ranks;  // 0: of one rank
  int rank;

  friend auto operator<=>(const Wanted&, const Wanted&) = default;
};

class Known {
 public:
  using Elements = std::shared_ptr<const std::vector<std::byte>>;

  // At least so many elements, from the first on.
  Elements get(const Wanted& wanted, std::size_t count) {
    const std::lock_guard lock(mutex_);
    Elements& known = known_[wanted];
    const std::size_t before = known == nullptr ? 0 : known->size();
    if (known == nullptr || before < count * element_bytes(wanted.dtype)) known = grown(wanted, known, count);
    const Elements result = known;
    bytes_ += result->size() - before;
    if (bytes_ > kMostBytes) {
      known_.clear();
      bytes_ = 0;
    }
    return result;
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  static Elements grown(const Wanted& wanted, const Elements& known, std::size_t count) {
    const CollectiveCall call{.dtype = wanted.dtype, .op = wanted.op};
    const std::size_t bytes = element_bytes(wanted.dtype);
    auto all = known == nullptr ? std::vector<std::byte>() : *known;
    const std::size_t first = all.size() / bytes;
    all.resize(count * bytes);
    for (std::size_t i = first; i < count; ++i) {
      put(all.data(), i, call.dtype, wanted.ranks == 0 ? contribution(call, wanted.rank, i) : reduction(call, wanted.ranks, i));
    }
    return std::make_shared<const std::vector<std::byte>>(std::move(all));
  }

  std::mutex mutex_;
  std::map<Wanted, Elements> known_;
  std::size_t bytes_ = 0;
};

// Elements [first, first + count) of what `ranks` ranks make together, or, if that is 0, of what one rank contributes.
std::vector<std::byte> part(const CollectiveCall& call, int ranks, int rank, std::size_t first, std::size_t count) {
  static Known known;
  const Wanted wanted{.dtype = call.dtype, .op = call.op, .salt = salt_of_thread, .ranks = ranks, .rank = rank};
  const Known::Elements elements = known.get(wanted, first + count);
  const std::size_t bytes = element_bytes(call.dtype);
  const auto begin = elements->begin() + static_cast<std::ptrdiff_t>(first * bytes);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * bytes)};
}

}  // namespace

void set_salt(std::uint64_t salt) { salt_of_thread = salt; }

std::size_t send_elements(const CollectiveCall& call, int ranks) {
  return call.count * static_cast<std::size_t>(parts_of(call.collective, Side::input, ranks));
}

std::size_t recv_elements(const CollectiveCall& call, int ranks) {
  return call.count * static_cast<std::size_t>(parts_of(call.collective, Side::output, ranks));
}

std::size_t part_in_place(const CollectiveCall& call, Side side, int rank) {
  const bool is_root = rank == call.root;
  const bool has_both = has_input(call.collective, is_root) && has_output(call.collective, is_root);
  return has_both && is_lone(call.collective, side) ? static_cast<std::size_t>(rank) : 0;
}

std::vector<std::byte> make_input(const CollectiveCall& call, int rank, int ranks) {
  return part(call, 0, rank, 0, has_input(call.collective, rank == call.root) ? send_elements(call, ranks) : 0);
}

std::vector<std::byte> expected_output(const CollectiveCall& call, int rank, int ranks) {
  if (!has_output(call.collective, rank == call.root)) return {};
  const std::size_t own_part = static_cast<std::size_t>(rank) * call.count;
  const auto from_all = [&](std::size_t first) {
    std::vector<std::byte> all;
    for (int each = 0; each < ranks; ++each) {
      const std::vector<std::byte> one = part(call, 0, each, first, call.count);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  switch (call.collective) {
    case Collective::allreduce:
    case Collective::reduce:         return part(call, ranks, 0, 0, call.count);
    case Collective::broadcast:      return part(call, 0, call.root, 0, call.count);
    case Collective::reduce_scatter: return part(call, ranks, 0, own_part, call.count);
    case Collective::scatter:        return part(call, 0, call.root, own_part, call.count);
    case Collective::allgather:
    case Collective::gather:         return from_all(0);
    case Collective::alltoall:       return from_all(own_part);
    case Collective::barrier:        break;
  }
  throw std::logic_error("no output");
}

}  // namespace hcomm::testing
