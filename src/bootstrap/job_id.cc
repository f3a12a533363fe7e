#include "bootstrap/job_id.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace hcomm {
namespace {

// 8 bytes of magic, 4 of version, 4 of zero, the name, the secret, and zeros to the end.
constexpr std::string_view kMagic = "hcommjob";
constexpr std::byte kVersion{1};
constexpr std::size_t kNameAt = 16;
constexpr std::size_t kSecretAt = kNameAt + sizeof(JobId::name);
constexpr std::size_t kEnd = kSecretAt + sizeof(JobId::secret);
static_assert(kEnd <= kJobIdBytes);

Status damaged(std::string_view why) {
  return Status::failure(hcommInvalidArgument, "this is not an id of an hcomm job: " + std::string(why) +
                                                   "; copy all 128 bytes of the id to every rank");
}

bool all_zero(ConstBytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte value) { return value == std::byte{0}; });
}

std::optional<unsigned> digit(char character) {
  if (character >= '0' && character <= '9') return static_cast<unsigned>(character - '0');
  if (character >= 'a' && character <= 'f') return static_cast<unsigned>(character - 'a' + 10);
  if (character >= 'A' && character <= 'F') return static_cast<unsigned>(character - 'A' + 10);
  return std::nullopt;
}

Status fill_random(Bytes bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Status::failure(hcommSystemError, std::string("getrandom failed: ") + std::strerror(errno));
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

Result<JobId> make_job_id() {
  JobId id;
  if (Status status = fill_random(id.name); !status.ok()) return std::move(status).during("making an id");
  if (Status status = fill_random(id.secret); !status.ok()) return std::move(status).during("making an id");
  return id;
}

JobIdBytes to_bytes(const JobId& id) {
  JobIdBytes bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[kMagic.size()] = kVersion;
  std::copy(id.name.begin(), id.name.end(), bytes.begin() + kNameAt);
  std::copy(id.secret.begin(), id.secret.end(), bytes.begin() + kSecretAt);
  return bytes;
}

Result<JobId> job_id_from_bytes(ConstBytes bytes) {
  if (bytes.size() != kJobIdBytes) return damaged("it has " + std::to_string(bytes.size()) + " bytes instead of 128");
  if (all_zero(bytes)) return damaged("it is all zeros");
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return damaged("it does not begin as one");
  if (bytes[kMagic.size()] != kVersion) {
    return damaged("it has version " + std::to_string(std::to_integer<int>(bytes[kMagic.size()])) +
                   ", and this library makes version " + std::to_string(std::to_integer<int>(kVersion)));
  }
  if (!all_zero(bytes.subspan(kMagic.size() + 1, kNameAt - kMagic.size() - 1)) || !all_zero(bytes.subspan(kEnd))) {
    return damaged("bytes that must be zero are not");
  }
  JobId id;
  std::copy_n(bytes.begin() + kNameAt, id.name.size(), id.name.begin());
  std::copy_n(bytes.begin() + kSecretAt, id.secret.size(), id.secret.begin());
  return id;
}

std::string to_hex(const JobId& id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte value : to_bytes(id)) {
    text += digits[std::to_integer<unsigned>(value) >> 4];
    text += digits[std::to_integer<unsigned>(value) & 15];
  }
  return text;
}

Result<JobId> job_id_from_hex(std::string_view text) {
  if (text.size() != 2 * kJobIdBytes) {
    return damaged("it has " + std::to_string(text.size()) + " characters instead of 256 hexadecimal digits");
  }
  JobIdBytes bytes;
  for (std::size_t i = 0; i < kJobIdBytes; ++i) {
    const auto high = digit(text[2 * i]);
    const auto low = digit(text[2 * i + 1]);
    if (!high || !low) return damaged("character " + std::to_string(2 * i) + " or the next is not a hexadecimal digit");
    bytes[i] = static_cast<std::byte>(*high * 16 + *low);
  }
  return job_id_from_bytes(bytes);
}

bool same_secret(ConstBytes left, ConstBytes right) {
  if (left.size() != right.size()) return false;
  volatile unsigned difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) difference = difference | std::to_integer<unsigned>(left[i] ^ right[i]);
  return difference == 0;
}

}  // namespace hcomm
