// Lines for people. Each is one write, so that lines of several ranks never mix and the last ones before a kill are there:
//
//   2026-05-01T12:00:00.123456Z node7 4711 rank 3 warn comm: the text
//
//   Threads:  any, at once. A line that is not wanted costs one load.
//   Where to: standard error or the file of configure_log, never standard output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hcomm {

enum class LogLevel : std::uint8_t { none, error, warn, info, trace };

constexpr std::string_view name(LogLevel level) {
  switch (level) {
    case LogLevel::none:  return "none";
    case LogLevel::error: return "error";
    case LogLevel::warn:  return "warn";
    case LogLevel::info:  return "info";
    case LogLevel::trace: return "trace";
  }
  return "?";
}

inline constexpr std::size_t kMaxLogLine = 4096;  // with its end; what a pipe takes in one piece

// For the whole process; until it is called, warnings and errors go to standard error. In the pattern %h is the host, %p the
// process, %r the rank, %% a percent sign; "" is standard error. The file is made if need be and appended to. If it cannot
// be opened, one warning says so and lines go to standard error. A rank of -1 means none or several in this process.
void configure_log(LogLevel level, std::string_view file_pattern, int rank);

bool log_enabled(LogLevel level);

// Line ends in the text become " | ", other control characters "?", and what is too long for a line ends in "...".
void log(LogLevel level, std::string_view subsystem, std::string_view text);

}  // namespace hcomm
