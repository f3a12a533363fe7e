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
  std::array<int, kMostTargets> finished_over;  // alike where there is but one source
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
    fill_numbers(elements_, number_bytes(dtype, bytes_of(false)), random_.next(), 9);
    fill_numbers(partials_, number_bytes(dtype, bytes_of(true)), random_.next(), 9);
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
            for (const Store store : stores()) check(layout, length, set, targets, store);
          }
        }
      }
    }
    CHECK(difference(elements_, kept_elements_) == "");  // sources are only read
    CHECK(difference(partials_, kept_partials_) == "");
  }

 private:
  static constexpr std::size_t kPoolBytes = 200'000;

  // All of them for sums; of the other operations, whose tiles are stored by the same code, one in turn.
  std::span<const Store> stores() const { return op_ == hcommSum ? kStores : std::span(kStores).subspan(checked_ % 3, 1); }

  std::size_t bytes_of(bool partial) const { return partial ? partial_bytes(dtype_, op_) : element_bytes(dtype_); }

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
    ranks_ = static_cast<int>(1 + random_.below(100));
    const bool finished = random_.below(2) == 1;
    for (std::size_t i = 0; i < kMostTargets; ++i) {
      layout.finished_over[i] = (count > 1 ? random_.below(2) == 1 : finished) ? ranks_ : 0;
      layout.target_is_partial[i] = random_.below(2) == 1;
      const std::size_t bytes = bytes_of(layout.target_is_partial[i]);
      layout.past_line[i] = random_.below(2) * (random_.below(64 / bytes) * bytes + (odd ? 1 : 0));
    }
    return layout;
  }

  void expect(const Layout& layout, std::size_t length) {
    for (const bool finished : {false, true}) {
      std::array<std::vector<std::byte>, 2>& expected = expected_[finished ? 1 : 0];
      for (const bool partial : {false, true}) expected[partial].assign(length * bytes_of(partial) + 1, std::byte{});
      const int over = finished ? ranks_ : 0;
      const CombineTarget targets[] = {{.data = expected[0].data(), .is_partial = false, .finished_over = over},
                                       {.data = expected[1].data(), .is_partial = true, .finished_over = over}};
      find_scalar(dtype_, op_)(layout.sources, std::span(targets), length, Store::regular);
    }
  }

  void check(const Layout& layout, std::size_t length, std::string_view set, std::size_t count, Store store) {
    std::vector<CombineTarget> targets;
    for (std::size_t i = 0; i < count; ++i) {
      const bool partial = layout.target_is_partial[i];
      targets.push_back({.data = targets_[i].fresh(length * bytes_of(partial), layout.past_line[i]),
                         .is_partial = partial,
                         .finished_over = layout.finished_over[i]});
    }
    kernel_of(dtype_, op_, set)(layout.sources, targets, length, store);
    for (std::size_t i = 0; i < count; ++i) {
      const bool partial = layout.target_is_partial[i];
      const std::byte* const expected = expected_[layout.finished_over[i] != 0 ? 1 : 0][partial].data();
      const bool same = length == 0 || std::memcmp(targets[i].data, expected, length * bytes_of(partial)) == 0;
      if (same && targets_[i].intact()) continue;
      INFO(name(dtype_) << ' ' << name(op_) << " set=" << set << " sources=" << layout.sources.size() << " targets=" << count
                        << " length=" << length << " store=" << static_cast<int>(store) << " target " << i << " partial="
                        << partial << " finished over " << layout.finished_over[i] << " past line " << layout.past_line[i]);
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
  int ranks_ = 1;  // of this layout
  std::array<std::array<std::vector<std::byte>, 2>, 2> expected_;  // [finished][partial]
  static constexpr std::size_t kMostBytes = kMostElements * 2 * sizeof(double);
  std::array<Guarded, kMostTargets> targets_ = {Guarded(kMostBytes), Guarded(kMostBytes), Guarded(kMostBytes)};
  std::size_t checked_ = 0;
};

}  // namespace

TEST_CASE("every set agrees with the scalar reference bit for bit") {
  REQUIRE(kernel_sets().front() == "scalar");
  for (const auto& [dtype, op] : all_types_and_ops()) {
    Bench bench(dtype, op);
    bench.check_all();
    const std::size_t stores = op == hcommSum ? std::size(kStores) : 1;
    CHECK(bench.checked() == kSourceCounts.size() * kLengths.size() * kernel_sets().size() * kMostTargets * stores);
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
