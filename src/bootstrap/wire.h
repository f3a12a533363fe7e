// Fields of messages: little-endian, whatever the machine. A Reader takes what is there and remembers if anything was not; it
// allocates nothing before it has seen that the bytes are there.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "net/address.h"

namespace hcomm {

// Family, port, 16 bytes; all zero where there is no address. The scope stays at home.
inline constexpr std::size_t kWireAddressBytes = 19;

class Writer {
 public:
  template <std::integral Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
  }
  void raw(ConstBytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text, std::size_t most);  // cut at `most`; two bytes of length before it
  void address(const Address& address);
  // A count, and room for `most`.
  void addresses(const std::vector<Address>& addresses, std::size_t most);

  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(ConstBytes bytes) : rest_(bytes) {}

  template <std::integral Number>
  Number number() {
    const ConstBytes bytes = raw(sizeof(Number));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return static_cast<Number>(value);
  }
  ConstBytes raw(std::size_t count);  // empty when so many are not there
  std::string text(std::size_t most);
  std::vector<Address> addresses(std::size_t most);

  bool good() const { return good_; }               // all that was asked for was there and legal
  bool done() const { return good_ && rest_.empty(); }  // and nothing else was

 private:
  Address address();

  ConstBytes rest_;
  bool good_ = true;
};

}  // namespace hcomm
