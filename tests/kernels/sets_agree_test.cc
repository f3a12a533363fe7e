// Goal: every set of kernels computes what the scalar reference computes, bit for bit.
// Method: all types, operations and sets; source counts around the group size and its powers; lengths around the vector and
// tile sizes; all store modes; random formats and misalignments, canaries around every target, awkward numbers.
#include <catch2/catch.hpp>

#include <array>

#include "kernels/group.h"
#include "kernels/sets.h"
#include "support.h"

namespace hcomm::test {
namespace {

constexpr std::size_t kMostElements = 4097;
constexpr std::size_t kMostTargets = 3;
constexpr std::array<std::size_t, 14> kSourceCounts = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33, 64, 100};
constexpr std::array<std::size_t, 19> kLengths = {0,  1,  2,  3,  7,  8,   15,  16,   17,           31,
                                                  32, 33, 63, 64, 65, 127, 255, 1000, kMostElements};

// How the operands lie this time.
struct Layout {
  std::vector<CombineSource> sources;
  std::array<bool, kMostTargets> target_is_partial;
  std::array<std::size_t, kMostTargets> past_line;
};

class Bench {
 public:
  Bench(hcommDataType_t dtype, hcommRedOp_t op)
      : dtype_(dtype),
        op_(op),
        random_(static_cast<std::uint64_t>(dtype * 16 + op)),
        elements_(kPoolBytes),
        partials_(kPoolBytes) {
    fill_numbers(elements_, element_bytes(dtype), random_.next(), 9);
    fill_numbers(partials_, partial_bytes(dtype), random_.next(), 9);
    kept_elements_ = elements_;
    kept_partials_ = partials_;
  }

  void check_all() {
    for (const std::size_t count : kSourceCounts) {
      for (const std::size_t length : kLengths) {
        const Layout layout = draw_layout(count);
        expect(layout, length);
        for (const std::string_view set : kernel_sets()) {
          for (std::size_t targets = 1; targets <= kMostTargets; ++targets) {
            for (const Store store : kStores) check(layout, length, set, targets, store);
          }
        }
      }
    }
    CHECK(difference(elements_, kept_elements_) == "");  // sources are only read
    CHECK(difference(partials_, kept_partials_) == "");
  }

 private:
  static constexpr std::size_t kPoolBytes = 200'000;

  std::size_t bytes_of(bool partial) const { return partial ? partial_bytes(dtype_) : element_bytes(dtype_); }

  // A third of the layouts has all sources in elements, a third all in partials, a third mixes; one in four is misaligned
  // even for an element.
  Layout draw_layout(std::size_t count) {
    Layout layout;
    const std::uint64_t mixture = random_.below(3);
    const bool odd = random_.below(4) == 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool partial = mixture == 2 ? random_.below(2) == 1 : mixture == 1;
      const std::vector<std::byte>& pool = partial ? partials_ : elements_;
      const std::size_t bytes = bytes_of(partial);
      const std::size_t start = random_.below((kPoolBytes - kMostElements * bytes) / bytes) * bytes;
      layout.sources.push_back({.data = pool.data() + (odd ? start / 2 + 1 : start), .is_partial = partial});
    }
    for (std::size_t i = 0; i < kMostTargets; ++i) {
      layout.target_is_partial[i] = random_.below(2) == 1;
      const std::size_t bytes = bytes_of(layout.target_is_partial[i]);
      layout.past_line[i] = random_.below(2) * (random_.below(64 / bytes) * bytes + (odd ? 1 : 0));
    }
    return layout;
  }

  void expect(const Layout& layout, std::size_t length) {
    expected_element_.assign(length * bytes_of(false) + 1, std::byte{});
    expected_partial_.assign(length * bytes_of(true) + 1, std::byte{});
    const CombineTarget targets[] = {{.data = expected_element_.data(), .is_partial = false},
                                     {.data = expected_partial_.data(), .is_partial = true}};
    find_scalar(dtype_, op_)(layout.sources, std::span(targets), length, Store::regular);
  }

  void check(const Layout& layout, std::size_t length, std::string_view set, std::size_t count, Store store) {
    std::vector<CombineTarget> targets;
    for (std::size_t i = 0; i < count; ++i) {
      const bool partial = layout.target_is_partial[i];
      targets.push_back({.data = targets_[i].fresh(length * bytes_of(partial), layout.past_line[i]), .is_partial = partial});
    }
    kernel_of(dtype_, op_, set)(layout.sources, targets, length, store);
    for (std::size_t i = 0; i < count; ++i) {
      const bool partial = layout.target_is_partial[i];
      const std::byte* const expected = partial ? expected_partial_.data() : expected_element_.data();
      const bool same = length == 0 || std::memcmp(targets[i].data, expected, length * bytes_of(partial)) == 0;
      if (same && targets_[i].intact()) continue;
      INFO(name(dtype_) << ' ' << name(op_) << " set=" << set << " sources=" << layout.sources.size() << " targets=" << count
                        << " length=" << length << " store=" << static_cast<int>(store) << " target " << i << " partial="
                        << partial << " past line " << layout.past_line[i]);
      CHECK(same);
      CHECK(targets_[i].intact());
    }
    ++checked_;
  }

 public:
  std::size_t checked() const { return checked_; }

 private:
  hcommDataType_t dtype_;
  hcommRedOp_t op_;
  Random random_;
  std::vector<std::byte> elements_, partials_, kept_elements_, kept_partials_;
  std::vector<std::byte> expected_element_, expected_partial_;
  static constexpr std::size_t kMostBytes = kMostElements * sizeof(double);
  std::array<Guarded, kMostTargets> targets_ = {Guarded(kMostBytes), Guarded(kMostBytes), Guarded(kMostBytes)};
  std::size_t checked_ = 0;
};

}  // namespace

TEST_CASE("every set agrees with the scalar reference bit for bit") {
  REQUIRE(kernel_sets().front() == "scalar");
  for (const hcommDataType_t dtype : combine_types()) {
    for (const hcommRedOp_t op : combine_ops()) {
      Bench bench(dtype, op);
      bench.check_all();
      CHECK(bench.checked() == kSourceCounts.size() * kLengths.size() * kernel_sets().size() * kMostTargets * std::size(kStores));
    }
  }
}

TEST_CASE("every set agrees at the largest number of sources, and around powers of two") {
  constexpr std::size_t kLength = 21;
  std::vector<std::uint32_t> wide(1024);  // no NaN, lest it swallow everything; sizes from 2^-8 to 2^7
  Random random(4096);
  for (std::uint32_t& bits : wide) bits = (random.next() & 0x807FFFFF) | static_cast<std::uint32_t>(119 + random.below(16)) << 23;
  std::vector<std::uint16_t> narrow;
  for (const std::uint32_t bits : wide) narrow.push_back(static_cast<std::uint16_t>(bits >> 16));
  for (const std::size_t count : {63, 65, 127, 128, 129, 511, 513, 1000, 2047, 2049, 4095, 4096}) {
    for (const hcommDataType_t dtype : {hcommFloat32, hcommBfloat16}) {
      std::vector<CombineSource> sources;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * 7 % (wide.size() - kLength);
        sources.push_back({.data = dtype == hcommFloat32 ? static_cast<const void*>(&wide[at]) : &narrow[at]});
      }
      std::vector<std::uint32_t> expected(kLength);
      const CombineTarget reference{.data = expected.data(), .is_partial = true};
      find_scalar(dtype, hcommSum)(sources, {&reference, 1}, kLength, Store::regular);
      for (const std::string_view set : kernel_sets()) {
        std::vector<std::uint32_t> result(kLength);
        const CombineTarget target{.data = result.data(), .is_partial = true};
        kernel_of(dtype, hcommSum, set)(sources, {&target, 1}, kLength, Store::regular);
        INFO(name(dtype) << " set=" << set << " sources=" << count);
        CHECK(difference(result, expected) == "");
      }
    }
  }
}

}  // namespace hcomm::test
