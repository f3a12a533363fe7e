#include "verify/expression.h"

#include <catch2/catch.hpp>

namespace hcomm {

TEST_CASE("equal expressions have equal numbers, others do not") {
  Expressions x;
  std::vector<Value> ranks;
  for (std::uint32_t rank = 0; rank < 5; ++rank) ranks.push_back(x.prepared(x.raw({.rank = rank})));
  CHECK(x.raw({.rank = 1}) == x.raw({.rank = 1}));
  CHECK(x.raw({.rank = 1}) != x.raw({.rank = 1, .chunk = 1}));
  CHECK(x.raw({.rank = 1}) != x.raw({.rank = 1, .call = 1}));
  CHECK(x.raw({.rank = 1}) != x.raw({.rank = 1, .block = 1}));
  const Value left = x.combined(std::vector{ranks[0], ranks[1]});
  CHECK(left == x.combined(std::vector{ranks[0], ranks[1]}));
  CHECK(left != x.combined(std::vector{ranks[1], ranks[0]}));
  CHECK(x.rounded(left) != left);
  CHECK(x.rounded(x.rounded(left)) == x.rounded(left));
  CHECK(x.rounded(x.raw({.rank = 1})) == x.raw({.rank = 1}));
}

TEST_CASE("many sources are combined by the balanced tree, split at the largest power of two below their number") {
  Expressions x;
  std::vector<Value> ranks;
  for (std::uint32_t rank = 0; rank < 7; ++rank) ranks.push_back(x.prepared(x.raw({.rank = rank})));
  CHECK(x.text(x.combined(std::vector(ranks.begin(), ranks.begin() + 3))) == "((0 + 1) + 2)");
  CHECK(x.text(x.combined(std::vector(ranks.begin(), ranks.begin() + 4))) == "((0 + 1) + (2 + 3))");
  CHECK(x.text(x.combined(ranks)) == "(((0 + 1) + (2 + 3)) + ((4 + 5) + 6))");
  CHECK(x.combined(std::vector{ranks[3]}) == ranks[3]);
}

TEST_CASE("an expression knows its stage and its contributions") {
  Expressions x;
  const Value raw = x.raw({.rank = 2});
  const Value prepared = x.prepared(raw);
  const Value sum = x.combined(std::vector{prepared, prepared});
  CHECK(x.stage(kUnwritten) == Stage::unwritten);
  CHECK(x.stage(raw) == Stage::raw);
  CHECK(x.stage(prepared) == Stage::prepared);
  CHECK(x.stage(x.rounded(sum)) == Stage::prepared);
  CHECK(x.stage(x.rounded(x.finished(sum))) == Stage::finished);
  CHECK(x.contributions(x.finished(sum), 10).size() == 2);
  CHECK(x.contributions(x.finished(sum), 1).size() == 1);
}

TEST_CASE("a long expression is found again and printed in short") {
  Expressions x;
  Value chain = x.prepared(x.raw({.rank = 0}));
  for (std::uint32_t i = 1; i < 100'000; ++i) chain = x.combined(std::vector{chain, x.prepared(x.raw({.rank = i}))});
  CHECK(x.text(chain).size() < 300);
  CHECK(x.contributions(chain, 3).size() == 3);
  Value again = x.prepared(x.raw({.rank = 0}));
  for (std::uint32_t i = 1; i < 100'000; ++i) again = x.combined(std::vector{again, x.prepared(x.raw({.rank = i}))});
  CHECK(again == chain);
}

}  // namespace hcomm
