// The cryptography of the handshake, from OpenSSL: codes that only a holder of the key can make, and random numbers that nobody
// can guess. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "base/bytes.h"

namespace hcomm {

using Secret = std::array<std::byte, 32>;
using Code = std::array<std::byte, 32>;

inline constexpr std::size_t kMostCodedBytes = 512;

// HMAC-SHA256 over the parts one after the other, kMostCodedBytes in all. Parts of fixed sizes, so that there is one way to part
// what is coded.
Code code_of(ConstBytes key, std::initializer_list<ConstBytes> parts);

// In a time that does not depend on where they differ.
bool same_code(ConstBytes one, ConstBytes other);

// Another secret for another use, which tells nothing about the first. At most 64 characters of label.
Secret derive(const Secret& secret, std::string_view label);

void fill_with_random(Bytes bytes);

ConstBytes as_bytes(std::string_view text);

}  // namespace hcomm
