// What names a job: where its ranks meet, and the secret that lets them in.
//
// This is what a hcommUniqueId carries, and, as hexadecimal text, what HCOMM_JOB carries. Whoever holds it and is of the
// same user can join.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace hcomm {

struct JobId {
  std::array<std::byte, 16> name{};    // of the socket; no secret: every user of the host can see it
  std::array<std::byte, 32> secret{};

  friend bool operator==(const JobId&, const JobId&) = default;
};

inline constexpr std::size_t kJobIdBytes = HCOMM_UNIQUE_ID_BYTES;
using JobIdBytes = std::array<std::byte, kJobIdBytes>;

// From the kernel's random numbers.
Result<JobId> make_job_id();

JobIdBytes to_bytes(const JobId& id);
Result<JobId> job_id_from_bytes(ConstBytes bytes);

std::string to_hex(const JobId& id);
Result<JobId> job_id_from_hex(std::string_view text);

// Takes the same time wherever the first difference is.
bool same_secret(ConstBytes left, ConstBytes right);

}  // namespace hcomm
