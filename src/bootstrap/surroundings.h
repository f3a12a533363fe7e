// What a process can see of how it was started: its environment, its ancestors, its files. Tests make their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hcomm {

inline constexpr std::size_t kMaxAncestors = 64;
inline constexpr std::size_t kMaxLaunchFileBytes = std::size_t{16} << 20;

struct Ancestor {
  int pid = 0;
  std::uint64_t started = 0;  // in the kernel's ticks since the start of the host: with the pid it names one process for good
  std::string name;           // the kernel's, at most 15 characters

  friend bool operator==(const Ancestor&, const Ancestor&) = default;
};

struct Surroundings {
  std::function<std::optional<std::string>(std::string_view name)> variable;       // null when unset or empty
  std::function<Result<std::string>(const std::string& path)> read_file;          // whole; bounded
  std::vector<Ancestor> ancestors;                                                 // the parent first
  std::uint32_t user = 0;
};

Surroundings own_surroundings();

// A line of /proc/PID/stat: the process, and its parent in `parent`. Null when it is none.
std::optional<Ancestor> parse_process(std::string_view line, int& parent);

// A regular file of at most kMaxLaunchFileBytes.
Result<std::string> read_launch_file(const std::string& path);

}  // namespace hcomm
