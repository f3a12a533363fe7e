// Symbolic values: what a block of memory holds, as an expression over the ranks' contributions. Equal expressions have
// equal numbers, so comparing two is comparing numbers.
//
// An expression also says where it was rounded, because two ranks that round the same sum at different places end with
// different bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hcomm {

using Value = std::uint32_t;
inline constexpr Value kUnwritten = 0;

// One rank's block, as its caller passed it.
struct Contribution {
  std::uint32_t rank = 0;
  std::uint32_t call = 0;
  std::uint32_t chunk = 0;
  std::uint32_t block = 0;

  friend bool operator==(const Contribution&, const Contribution&) = default;
};

enum class Stage : std::uint8_t {
  unwritten,
  raw,       // a contribution as it was passed
  prepared,  // a prepared contribution, or a combination of such
  finished,
};

class Expressions {
 public:
  Expressions();

  Value raw(const Contribution& contribution);
  Value prepared(Value raw_value);                 // of a raw contribution
  Value combined(std::span<const Value> sources);  // the balanced tree in the order given; one source is itself
  Value finished(Value value);
  Value rounded(Value value);  // stored in the element format; changes neither raw values nor rounded ones

  Stage stage(Value value) const;

  // The first `limit` contributions of a value, left to right.
  std::vector<Contribution> contributions(Value value, std::size_t limit) const;

  // For people, such as "finish((0 + 1) + 2)"; cut when long.
  std::string text(Value value) const;

 private:
  enum class Kind : std::uint8_t { unwritten, raw, prepared, combined, rounded, finished };

  struct Node {
    Kind kind = Kind::unwritten;
    Contribution leaf;  // raw
    Value left = 0;     // what is prepared, rounded, finished or combined ...
    Value right = 0;    // ... with this

    friend bool operator==(const Node&, const Node&) = default;
  };

  static std::size_t hash(const Node& node);
  Value intern(const Node& node);
  void grow();
  void append_text(Value value, std::string& text) const;

  std::vector<Node> nodes_;
  std::vector<Value> table_;  // open addressing, a power of two; 0 is free
};

}  // namespace hcomm
