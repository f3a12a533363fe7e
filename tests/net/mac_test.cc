#include "net/mac.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

namespace hcomm {
namespace {

std::string hex(ConstBytes bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte value : bytes) {
    text += digits[std::to_integer<std::size_t>(value) >> 4];
    text += digits[std::to_integer<std::size_t>(value) & 15];
  }
  return text;
}

}  // namespace

TEST_CASE("codes are those of RFC 4231") {
  const std::string key(20, '\x0b');
  CHECK(hex(code_of(as_bytes(key), {as_bytes("Hi There")})) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hex(code_of(as_bytes("Jefe"), {as_bytes("what do ya want "), as_bytes("for nothing?")})) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("codes are the same only if all bytes are") {
  const Code code = code_of(as_bytes("key"), {as_bytes("text")});
  CHECK(same_code(code, code));
  CHECK_FALSE(same_code(code, ConstBytes(code).first(31)));
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Code other = code;
    other[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    CHECK_FALSE(same_code(code, other));
  }
}

TEST_CASE("a derived secret is another one for each label and each secret") {
  const Secret one{};
  Secret other{};
  other[31] = std::byte{1};
  const std::set<Secret> all = {one, other, derive(one, "link"), derive(one, "meeting"), derive(other, "link"), derive(one, "")};
  CHECK(all.size() == 6);
  CHECK(derive(one, "link") == derive(one, "link"));
}

TEST_CASE("random bytes differ") {
  std::set<Secret> drawn;
  for (int i = 0; i < 100; ++i) {
    Secret secret{};
    fill_with_random(secret);
    drawn.insert(secret);
  }
  CHECK(drawn.size() == 100);
}

}  // namespace hcomm
