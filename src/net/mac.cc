#include "net/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
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

// From the kernel, and not from OpenSSL, whose generator has locks: a child that is forked while another thread makes a nonce
// would wait for them for ever.
void fill_with_random(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    HCOMM_ASSERT(got > 0);  // without random numbers there is no protection; nothing may go on
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

ConstBytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace hcomm
