#include "net/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <new>

#include "base/assert.h"

namespace hcomm {

Code code_of(ConstBytes key, std::initializer_list<ConstBytes> parts) {
  std::array<std::byte, kMostCodedBytes> joined{};
  std::size_t filled = 0;
  for (const ConstBytes part : parts) {
    HCOMM_ASSERT(part.size() <= joined.size() - filled);
    std::copy(part.begin(), part.end(), joined.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += part.size();
  }
  Code code{};
  unsigned bytes = 0;
  const unsigned char* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(joined.data()), filled,
           reinterpret_cast<unsigned char*>(code.data()), &bytes);
  if (made == nullptr || bytes != code.size()) throw std::bad_alloc();  // it has no other reason to fail
  return code;
}

bool same_code(ConstBytes one, ConstBytes other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Secret derive(const Secret& secret, std::string_view label) {
  HCOMM_ASSERT(label.size() <= 64);
  return code_of(secret, {as_bytes("hcomm derived   "), as_bytes(label)});
}

void fill_with_random(Bytes bytes) {
  // Without random numbers there is no protection; nothing may go on.
  HCOMM_ASSERT(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) == 1);
}

ConstBytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace hcomm
