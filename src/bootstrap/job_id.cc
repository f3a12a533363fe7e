#include "bootstrap/job_id.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "bootstrap/wire.h"

namespace hcomm {
namespace {

// Magic, version, count of addresses, name, secret, host, addresses, and zeros to the end.
constexpr std::string_view kMagic = "hcom";
constexpr std::byte kVersion{2};
constexpr std::size_t kUsedBytes = kMagic.size() + 2 + kMaxJobAddresses * kWireAddressBytes + sizeof(JobId::name) +
                                   sizeof(JobId::secret) + sizeof(HostId);
static_assert(kUsedBytes <= kJobIdBytes);

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

template <std::size_t size>
void take(Reader& reader, std::array<std::byte, size>& target) {
  const ConstBytes bytes = reader.raw(size);
  std::copy(bytes.begin(), bytes.end(), target.begin());
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
  Writer writer;
  writer.raw(std::as_bytes(std::span(kMagic)));
  writer.raw({&kVersion, 1});
  writer.addresses(id.at, kMaxJobAddresses);
  writer.raw(id.name);
  writer.raw(id.secret);
  writer.raw(id.host);
  const std::vector<std::byte> written = std::move(writer).take();
  JobIdBytes bytes{};
  std::copy(written.begin(), written.end(), bytes.begin());
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
  Reader reader(bytes.subspan(kMagic.size() + 1));
  JobId id;
  id.at = reader.addresses(kMaxJobAddresses);
  if (!reader.good()) return damaged("its addresses are none");
  take(reader, id.name);
  take(reader, id.secret);
  take(reader, id.host);
  if (!all_zero(reader.raw(kJobIdBytes - kUsedBytes))) return damaged("bytes that must be zero are not");
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

}  // namespace hcomm
