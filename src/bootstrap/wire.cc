#include "bootstrap/wire.h"

#include <algorithm>

#include "base/assert.h"

namespace hcomm {

void Writer::text(std::string_view text, std::size_t most) {
  const std::string_view kept = text.substr(0, most);
  number(static_cast<std::uint16_t>(kept.size()));
  raw(std::as_bytes(std::span(kept)));
}

void Writer::address(const Address& address) {
  number(static_cast<std::uint8_t>(address.family));
  number(address.port);
  raw(address.bytes);
}

void Writer::addresses(const std::vector<Address>& addresses, std::size_t most) {
  HCOMM_ASSERT(addresses.size() <= most);
  number(static_cast<std::uint8_t>(addresses.size()));
  for (std::size_t i = 0; i < most; ++i) address(i < addresses.size() ? addresses[i] : Address{});
}

ConstBytes Reader::raw(std::size_t count) {
  if (!good_ || rest_.size() < count) {
    good_ = false;
    return {};
  }
  const ConstBytes taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

std::string Reader::text(std::size_t most) {
  const auto length = number<std::uint16_t>();
  if (length > most) good_ = false;
  const ConstBytes bytes = raw(length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Address Reader::address() {
  Address address;
  const auto family = number<std::uint8_t>();
  address.port = number<std::uint16_t>();
  const ConstBytes bytes = raw(address.bytes.size());
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  address.family = static_cast<Family>(family);
  const bool is_inet = address.family == Family::inet;
  const bool has_more_than_four = std::any_of(address.bytes.begin() + 4, address.bytes.end(),
                                              [](std::byte value) { return value != std::byte{0}; });
  if (is_inet ? has_more_than_four : address.family != Family::inet6 && address != Address{}) good_ = false;
  return address;
}

std::vector<Address> Reader::addresses(std::size_t most) {
  const auto count = number<std::uint8_t>();
  if (count > most) good_ = false;
  std::vector<Address> found;
  for (std::size_t i = 0; i < most && good_; ++i) {
    const Address each = address();
    if ((i < count) != (each.family != Family::none)) good_ = false;
    if (i < count) found.push_back(each);
  }
  return found;
}

}  // namespace hcomm
