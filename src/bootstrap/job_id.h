// What names a job: where its ranks meet, and the secret that lets them in.
//
// This is what a hcommUniqueId carries, and, as hexadecimal text, what HCOMM_JOB carries. Whoever holds it can join: on the
// coordinator's host, if of the same user, over its Unix socket; elsewhere at its addresses.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "bootstrap/facts.h"

namespace hcomm {

inline constexpr std::size_t kMaxJobAddresses = 3;

struct JobId {
  std::array<std::byte, 16> name{};    // of the socket; no secret: every user of the host can see it
  std::array<std::byte, 32> secret{};
  HostId host{};                       // of the coordinator, if it says
  std::vector<Address> at;             // where it listens for other hosts, best first; at most kMaxJobAddresses

  friend bool operator==(const JobId&, const JobId&) = default;
};

inline constexpr std::size_t kJobIdBytes = HCOMM_UNIQUE_ID_BYTES;
using JobIdBytes = std::array<std::byte, kJobIdBytes>;

// Name and secret, from the kernel's random numbers.
Result<JobId> make_job_id();

JobIdBytes to_bytes(const JobId& id);
Result<JobId> job_id_from_bytes(ConstBytes bytes);

std::string to_hex(const JobId& id);
Result<JobId> job_id_from_hex(std::string_view text);

}  // namespace hcomm
