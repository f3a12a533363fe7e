#include "bootstrap/facts.h"

#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace hcomm {

HostId host_id(std::string_view identity) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(identity.data()), identity.size(), digest.data());
  HostId id;
  std::transform(digest.begin(), digest.begin() + id.size(), id.begin(), [](unsigned char value) { return std::byte{value}; });
  return id;
}

Facts own_facts() {
  Facts facts;
  facts.pid = getpid();
  facts.uid = getuid();
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0) facts.pid_namespace = space.st_ino;
  return facts;
}

}  // namespace hcomm
