// From "eight sources of one format into one result" to any combine, tile by tile.
//
// A tile is a run of elements small enough that every intermediate (finished subtrees, a result that is not yet stored,
// widened sources) stays in the L1 cache while all sources pass through it once. The commonest combines need none of this:
// up to eight sources of one format and one target with regular stores are a single run from memory to memory.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "kernels/float_control.h"
#include "kernels/group.h"
#include "kernels/stores.h"

namespace hcomm {
namespace {

constexpr std::size_t kTileBytes = 2048;  // of the partial format
constexpr std::size_t kCopyBytes = 16384;

struct alignas(kCacheLineBytes) Tile {
  std::byte bytes[kTileBytes];
};

const std::byte* bytes_of(const CombineSource& source) { return static_cast<const std::byte*>(source.data); }
std::byte* bytes_of(const CombineTarget& target) { return static_cast<std::byte*>(target.data); }

// Cuts a run of elements into pieces that end where a cache line of `target` does, so that no line is stored in two parts.
class Pieces {
 public:
  Pieces(const std::byte* target, std::size_t element_bytes, std::size_t piece_elements, std::size_t elements)
      : piece_(piece_elements), elements_(elements) {
    const std::size_t past_line = reinterpret_cast<std::uintptr_t>(target) % kCacheLineBytes;
    count_ = std::min(piece_ - past_line / element_bytes, elements_);
  }
  bool any() const { return first_ < elements_; }
  void next() {
    first_ += count_;
    count_ = std::min(piece_, elements_ - first_);
  }
  std::size_t first() const { return first_; }
  std::size_t count() const { return count_; }

 private:
  std::size_t piece_;
  std::size_t elements_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

class Combine {
 public:
  Combine(const Recipe& recipe, std::span<const CombineSource> sources, std::span<const CombineTarget> targets,
          std::size_t elements, Store store)
      : recipe_(recipe), sources_(sources), targets_(targets), elements_(elements), store_(store) {
    const auto partial = [&](const auto& operand) { return is_partial(operand); };
    const bool has_formats = recipe.widen != nullptr;  // else nobody need be asked
    one_format_ = !has_formats || std::all_of(sources.begin(), sources.end(), partial) ||
                  std::none_of(sources.begin(), sources.end(), partial);
    elements_only_ = one_format_ && !is_partial(sources[0]);
    if (recipe.finish != nullptr) {
      for (const CombineTarget& target : targets) finish_over_ = std::max(finish_over_, target.finished_over);
    }
    result_is_partial_ =
        has_formats && (!elements_only_ || finish_over_ != 0 || std::any_of(targets.begin(), targets.end(), partial));
    // A single target that needs neither conversion nor special stores takes results straight from the registers.
    direct_ = targets.size() == 1 && store == Store::regular && result_is_partial_ == is_partial(targets[0]) && finish_over_ == 0;
  }

  void run();

 private:
  bool is_partial(const CombineSource& source) const { return recipe_.widen != nullptr && source.is_partial; }
  bool is_partial(const CombineTarget& target) const { return recipe_.widen != nullptr && target.is_partial; }
  std::size_t bytes_per_element(bool partial) const { return partial ? recipe_.partial_bytes : recipe_.element_bytes; }
  template <class Operand>
  std::size_t bytes_before(const Operand& operand, std::size_t element) const {
    return element * bytes_per_element(is_partial(operand));
  }

  void copy();
  void copy_piece(const CombineTarget& target, std::size_t first, std::size_t count);
  void combine_tiles();
  void combine_tile(std::size_t first, std::size_t count, std::byte* result);
  void combine_widened(Group& group, std::size_t first_leaf, std::size_t count);
  void store_tile(Tile& tile, std::size_t first, std::size_t count);
  void store_targets(const Tile& tile, std::size_t first, std::size_t count, bool finished);

  const Recipe& recipe_;
  const std::span<const CombineSource> sources_;
  const std::span<const CombineTarget> targets_;
  const std::size_t elements_;
  const Store store_;
  bool one_format_;         // of all sources
  bool elements_only_;      // and it is that of elements
  bool result_is_partial_;  // what the registers deliver
  bool direct_;
  int finish_over_ = 0;  // what finished targets are finished over; 0: nothing is to be done
};

void Combine::run() {
  if (sources_.size() == 1 && finish_over_ == 0) return copy();
  const DefaultFloatControl control(recipe_.is_float);
  if (!direct_ || !one_format_ || sources_.size() > kGroupLeaves) return combine_tiles();
  Group group;
  group.leaf_count = sources_.size();
  group.left_count = 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) group.leaves[i] = bytes_of(sources_[i]);
  group.result = bytes_of(targets_[0]);
  group.result_is_partial = result_is_partial_;
  (elements_only_ ? recipe_.combine_elements : recipe_.combine_partials)(group, elements_);
}

// One source. With several targets it is read once, a piece at a time.
void Combine::copy() {
  const std::size_t piece = targets_.size() == 1 && is_partial(sources_[0]) == is_partial(targets_[0])
                                ? std::max(elements_, kCopyBytes)
                                : kTileBytes / recipe_.partial_bytes;
  for (Pieces pieces(bytes_of(targets_[0]), bytes_per_element(is_partial(targets_[0])), piece, elements_); pieces.any();
       pieces.next()) {
    for (const CombineTarget& target : targets_) copy_piece(target, pieces.first(), pieces.count());
  }
}

void Combine::copy_piece(const CombineTarget& target, std::size_t first, std::size_t count) {
  const CombineSource& source = sources_[0];
  const std::byte* const from = bytes_of(source) + bytes_before(source, first);
  std::byte* const to = bytes_of(target) + bytes_before(target, first);
  if (is_partial(source) == is_partial(target)) {
    if (from != to) put(to, from, bytes_before(target, count), store_);
    return;
  }
  const ConvertFunction convert = is_partial(target) ? recipe_.widen : recipe_.narrow;
  if (store_ == Store::regular) return convert(to, from, count);
  Tile tile;
  convert(tile.bytes, from, count);
  put(to, tile.bytes, bytes_before(target, count), store_);
}

void Combine::combine_tiles() {
  const std::size_t tile_elements = kTileBytes / recipe_.partial_bytes;
  Tile tile;
  for (Pieces pieces(bytes_of(targets_[0]), bytes_per_element(is_partial(targets_[0])), tile_elements, elements_); pieces.any();
       pieces.next()) {
    const std::size_t first = pieces.first();
    if (direct_) {
      combine_tile(first, pieces.count(), bytes_of(targets_[0]) + bytes_before(targets_[0], first));
    } else {
      combine_tile(first, pieces.count(), tile.bytes);
      store_tile(tile, first, pieces.count());
    }
  }
}

// Walks the groups from left to right; see group.h for the picture.
void Combine::combine_tile(std::size_t first, std::size_t count, std::byte* result) {
  Tile levels[kLevels];
  const std::size_t groups = (sources_.size() + kGroupLeaves - 1) / kGroupLeaves;
  for (std::size_t index = 0; index < groups; ++index) {
    const bool last = index + 1 == groups;
    const auto finished = static_cast<std::size_t>(std::countr_one(index));
    Group group;
    group.left_count = 0;
    for (std::size_t level = 0; index >> level != 0; ++level) {
      const bool taken = last ? (index >> level & 1) != 0 : level < finished;
      if (taken) group.lefts[group.left_count++] = levels[level].bytes;
    }
    group.result = last ? result : levels[finished].bytes;
    group.result_is_partial = !last || result_is_partial_;
    const std::size_t first_leaf = index * kGroupLeaves;
    group.leaf_count = std::min(kGroupLeaves, sources_.size() - first_leaf);
    for (std::size_t i = 0; i < group.leaf_count; ++i) {
      const CombineSource& source = sources_[first_leaf + i];
      group.leaves[i] = bytes_of(source) + bytes_before(source, first);
    }
    if (elements_only_) {
      recipe_.combine_elements(group, count);
    } else if (one_format_) {
      recipe_.combine_partials(group, count);
    } else {
      combine_widened(group, first_leaf, count);
    }
  }
}

// Leaves of both formats: those that are elements are widened first.
[[gnu::noinline]] void Combine::combine_widened(Group& group, std::size_t first_leaf, std::size_t count) {
  Tile widened[kGroupLeaves];
  for (std::size_t i = 0; i < group.leaf_count; ++i) {
    if (is_partial(sources_[first_leaf + i])) continue;
    recipe_.widen(widened[i].bytes, group.leaves[i], count);
    group.leaves[i] = widened[i].bytes;
  }
  recipe_.combine_partials(group, count);
}

// The finished targets come last, because the tile is finished where it is.
void Combine::store_tile(Tile& tile, std::size_t first, std::size_t count) {
  store_targets(tile, first, count, false);
  if (finish_over_ == 0) return;
  recipe_.finish(tile.bytes, count, finish_over_);
  store_targets(tile, first, count, true);
}

void Combine::store_targets(const Tile& tile, std::size_t first, std::size_t count, bool finished) {
  Tile narrowed;
  bool is_narrowed = false;
  for (const CombineTarget& target : targets_) {
    if (finish_over_ != 0 && finished != (target.finished_over != 0)) continue;
    const bool as_it_is = is_partial(target) == result_is_partial_;
    if (!as_it_is && !is_narrowed) {
      recipe_.narrow(narrowed.bytes, tile.bytes, count);
      is_narrowed = true;
    }
    const std::byte* const from = as_it_is ? tile.bytes : narrowed.bytes;
    put(bytes_of(target) + bytes_before(target, first), from, bytes_before(target, count), store_);
  }
}

}  // namespace

void combine_by_recipe(const Recipe& recipe, std::span<const CombineSource> sources, std::span<const CombineTarget> targets,
                       std::size_t elements, Store store) noexcept {
  HCOMM_ASSERT(!sources.empty() && sources.size() <= kMaxCombineSources);
  if (elements == 0 || targets.empty()) return;
  Combine(recipe, sources, targets, elements, store).run();
  publish(store);
}

}  // namespace hcomm
