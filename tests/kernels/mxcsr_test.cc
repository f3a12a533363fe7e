// Goal (public case B028): with FTZ, DAZ, unmasked exceptions or flags set by the caller, the bits are the same and MXCSR is
// afterwards what it was before. For x86 alone.
#include <xmmintrin.h>

#include <catch2/catch.hpp>

#include "support.h"

namespace hcomm::test {
namespace {

constexpr std::size_t kElements = 53;
constexpr std::size_t kMostSources = 17;
constexpr unsigned kDefault = 0x1F80;
constexpr unsigned kFlushToZero = 0x8000;
constexpr unsigned kDenormalsAreZero = 0x0040;

constexpr unsigned kWords[] = {
    kDefault,
    kDefault | kFlushToZero,
    kDefault | kDenormalsAreZero,
    kDefault | kFlushToZero | kDenormalsAreZero,
    kDefault | kFlushToZero | kDenormalsAreZero | 0x6000,  // and toward zero
    kDefault | 0x2000,                                     // down
    kDefault | 0x4000,                                     // up
    kDefault | 0x003F,                                     // all flags raised
    kDefault | 0x0021,                                     // some
    0x0000,                                                // all exceptions unmasked: a raised one would kill the test
};

// Subnormals everywhere, beside the awkward ones: what FTZ and DAZ would spoil.
std::vector<std::byte> subnormals(std::size_t bytes_per_number, std::size_t bytes_per_source) {
  std::vector<std::byte> pool(bytes_per_source * kMostSources);
  fill_numbers(pool, bytes_per_number, 17, 6);
  Random random(18);
  const std::uint64_t fraction = bytes_per_number == 1   ? 0x83
                                 : bytes_per_number == 2 ? 0x807F
                                 : bytes_per_number == 4 ? 0x807FFFFF
                                                         : 0x800FFFFFFFFFFFFF;
  for (std::size_t at = 0; at + bytes_per_number <= pool.size(); at += 2 * bytes_per_number) {
    const std::uint64_t bits = random.next() & fraction;
    std::memcpy(pool.data() + at, &bits, bytes_per_number);
  }
  return pool;
}

struct Outcome {
  std::vector<std::byte> elements;
  std::vector<std::byte> partials;
  unsigned word_after = 0;
};

Outcome run_with(unsigned word, hcommDataType_t dtype, hcommRedOp_t op, CombineKernel kernel, const std::vector<std::byte>& pool,
                 std::size_t count) {
  std::vector<CombineSource> sources;
  for (std::size_t i = 0; i < count; ++i) sources.push_back({.data = pool.data() + i * kElements * element_bytes(dtype)});
  Outcome outcome;
  outcome.elements.resize(kElements * element_bytes(dtype));
  outcome.partials.resize(kElements * partial_bytes(dtype, op));
  const int ranks = count > 1 ? 3 : 0;
  const CombineTarget targets[] = {{.data = outcome.elements.data(), .finished_over = ranks},
                                   {.data = outcome.partials.data(), .is_partial = true}};
  const unsigned before = _mm_getcsr();
  _mm_setcsr(word);
  kernel(sources, std::span(targets), kElements, Store::regular);
  outcome.word_after = _mm_getcsr();
  _mm_setcsr(before);
  return outcome;
}

}  // namespace

TEST_CASE("B028: MXCSR changes no bit of a result, and is given back") {
  for (const auto& [dtype, op] : all_types_and_ops()) {
    const std::vector<std::byte> pool = subnormals(number_bytes(dtype, element_bytes(dtype)), kElements * element_bytes(dtype));
    for (const std::string_view set : kernel_sets()) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{8}, kMostSources}) {
        const CombineKernel kernel = kernel_of(dtype, op, set);
        const Outcome expected = run_with(kDefault, dtype, op, kernel_of(dtype, op, "scalar"), pool, count);
        for (const unsigned word : kWords) {
          const Outcome outcome = run_with(word, dtype, op, kernel, pool, count);
          INFO(name(dtype) << ' ' << name(op) << ' ' << set << " sources=" << count << " word=" << word);
          CHECK(difference(outcome.elements, expected.elements) == "");
          CHECK(difference(outcome.partials, expected.partials) == "");
          CHECK(outcome.word_after == word);
        }
      }
    }
  }
}

TEST_CASE("these numbers would show FTZ and DAZ, were they left on") {
  volatile float smallest_normal = 1.17549435e-38F;
  volatile float tiny = 1e-40F;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(kDefault | kFlushToZero | kDenormalsAreZero);
  volatile float flushed = smallest_normal * 0.5F;
  volatile float ignored = tiny + tiny;
  _mm_setcsr(before);
  CHECK(flushed == 0);
  CHECK(ignored == 0);
  CHECK(tiny + tiny > 0);
}

}  // namespace hcomm::test
