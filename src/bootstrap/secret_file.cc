#include "bootstrap/secret_file.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/descriptor.h"

namespace hcomm {
namespace {

Status refused(const std::string& path, const std::string& why) {
  return Status::failure(hcommInvalidArgument, "the secret's file " + path + " " + why);
}

std::string octal(mode_t mode) {
  std::string text = "0";
  for (int shift = 6; shift >= 0; shift -= 3) text += static_cast<char>('0' + ((mode >> shift) & 7));
  return text;
}

}  // namespace

Result<Secret> read_secret_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.open()) return refused(path, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return refused(path, "is no regular file");
  if (facts.st_uid != geteuid()) {
    return refused(path, "belongs to user " + std::to_string(facts.st_uid) + ", and this process runs as user " +
                             std::to_string(geteuid()) + ": each user needs a file of their own");
  }
  if ((facts.st_mode & 077) != 0) {
    return refused(path, "has mode " + octal(facts.st_mode) + ", so that others can use it: chmod 600 " + path);
  }
  std::vector<unsigned char> contents(kMostSecretBytes + 1);
  std::size_t filled = 0;
  while (filled < contents.size()) {
    const ssize_t got = read(file.get(), contents.data() + filled, contents.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(path, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled < kLeastSecretBytes || filled > kMostSecretBytes) {
    return refused(path, "has " + (filled > kMostSecretBytes ? "more than " + std::to_string(kMostSecretBytes)
                                                             : std::to_string(filled)) +
                             " bytes; legal are " + std::to_string(kLeastSecretBytes) + " to " +
                             std::to_string(kMostSecretBytes) + ": head -c 32 /dev/urandom > " + path);
  }
  Secret secret;
  static_assert(sizeof secret == SHA256_DIGEST_LENGTH);
  SHA256(contents.data(), filled, reinterpret_cast<unsigned char*>(secret.data()));
  return secret;
}

}  // namespace hcomm
