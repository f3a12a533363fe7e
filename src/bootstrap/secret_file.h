// The secret of a job that several hosts share, where no launcher hands one out: a file that its user alone can read.
#pragma once

#include <string>

#include "base/status.h"
#include "net/mac.h"

namespace hcomm {

inline constexpr std::size_t kLeastSecretBytes = 16;
inline constexpr std::size_t kMostSecretBytes = 64 * 1024;

// The SHA-256 of all its bytes. Refuses, with what to do, a file that is too short, that belongs to another user or that others
// may read or write.
Result<Secret> read_secret_file(const std::string& path);

}  // namespace hcomm
