#include "bootstrap/run_id.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace hcomm {
namespace {

using Digest = std::array<std::byte, 32>;

Result<Digest> sha256(const std::string& text) {
  Digest digest{};
  unsigned size = 0;
  const int well = EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size, EVP_sha256(),
                              nullptr);
  if (well == 1 && size == digest.size()) return digest;
  return Status::failure(hcommSystemError, "the cryptographic library cannot compute SHA-256");
}

// Lengths are part of the text, so that no two lists of facts have the same one.
std::string canonical(std::string_view purpose, std::uint32_t user, const std::vector<std::string>& facts) {
  std::string text = "hcomm run 1 " + std::string(purpose) + " user " + std::to_string(user) + "\n";
  for (const std::string& fact : facts) text += std::to_string(fact.size()) + ":" + fact + "\n";
  return text;
}

}  // namespace

Result<JobId> derive_run_id(std::uint32_t user, const std::vector<std::string>& facts) {
  JobId id;
  Result<Digest> name = sha256(canonical("name", user, facts));
  if (!name.ok()) return std::move(name).status();
  Result<Digest> secret = sha256(canonical("word", user, facts));
  if (!secret.ok()) return std::move(secret).status();
  std::copy_n(name.value().begin(), id.name.size(), id.name.begin());
  id.secret = secret.value();
  return id;
}

int run_port(const JobId& run) {
  const int number = std::to_integer<int>(run.name[0]) * 256 + std::to_integer<int>(run.name[1]);
  return kFirstRunPort + number % kRunPorts;
}

}  // namespace hcomm
