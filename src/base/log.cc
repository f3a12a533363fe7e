#include "base/log.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

namespace hcomm {
namespace {

constexpr std::size_t kMaxHostName = 64;

// Read by every line, written by configure_log.
std::atomic<LogLevel> level_now{LogLevel::warn};
std::atomic<int> rank_now{-1};
std::atomic<int> target_fd{STDERR_FILENO};

// configure_log alone.
std::mutex configuring;
int file_fd = -1;  // once open it keeps its number: a line of another thread may be on its way to it

struct HostName {
  std::array<char, kMaxHostName + 1> text{};

  HostName() {
    if (gethostname(text.data(), kMaxHostName) != 0 || text[0] == '\0') std::strcpy(text.data(), "localhost");
  }
};

const char* host_name() {
  static const HostName host;
  return host.text.data();
}

// A line under construction, on the stack. Keeps room for its end.
class Line {
 public:
  void head(LogLevel level) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm date{};
    gmtime_r(&now.tv_sec, &date);
    length_ = strftime(text_.data(), text_.size(), "%Y-%m-%dT%H:%M:%S", &date);
    std::array<char, 16> rank{"-"};
    const int number = rank_now.load(std::memory_order_relaxed);
    if (number >= 0) std::snprintf(rank.data(), rank.size(), "%d", number);
    const int written = std::snprintf(text_.data() + length_, text_.size() - length_, ".%06ldZ %s %d rank %s %s ",
                                      now.tv_nsec / 1000, host_name(), getpid(), rank.data(), name(level).data());
    if (written > 0) length_ += static_cast<std::size_t>(written);
  }

  void add(std::string_view text) {
    while (!text.empty()) {
      const char letter = text.front();
      text.remove_prefix(1);
      if (letter == '\n') {
        text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
        if (!text.empty()) put(" | ");
      } else {
        const bool control = static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
        put(control ? "?" : std::string_view(&letter, 1));
      }
    }
  }

  std::string_view finish() {
    if (full_) {
      std::memcpy(text_.data() + length_, "...", 3);
      length_ += 3;
    }
    text_[length_++] = '\n';
    return {text_.data(), length_};
  }

 private:
  void put(std::string_view piece) {
    full_ = full_ || length_ + piece.size() + std::strlen("...\n") > text_.size();
    if (full_) return;
    std::memcpy(text_.data() + length_, piece.data(), piece.size());
    length_ += piece.size();
  }

  std::array<char, kMaxLogLine> text_;
  std::size_t length_ = 0;
  bool full_ = false;
};

void write_line(int fd, LogLevel level, std::string_view subsystem, std::string_view text) {
  const int error = errno;  // logging is not an event for the caller
  Line line;
  line.head(level);
  line.add(subsystem);
  line.add(": ");
  line.add(text);
  const std::string_view whole = line.finish();
  ssize_t written = 0;
  do {
    written = write(fd, whole.data(), whole.size());
  } while (written < 0 && errno == EINTR);
  errno = error;
}

std::string fill_pattern(std::string_view pattern, int rank) {
  std::string path;
  while (!pattern.empty()) {
    const std::string_view mark = pattern.substr(0, 2);
    std::size_t taken = 2;
    if (mark == "%h") {
      path += host_name();
    } else if (mark == "%p") {
      path += std::to_string(getpid());
    } else if (mark == "%r") {
      path += rank < 0 ? "all" : std::to_string(rank);
    } else {
      path += pattern.front();
      taken = mark == "%%" ? 2 : 1;
    }
    pattern.remove_prefix(taken);
  }
  return path;
}

// Opens the file behind the number that log lines already use, if there is one.
bool open_file(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
  if (fd < 0) return false;
  if (file_fd < 0) {
    file_fd = fd;
    return true;
  }
  const bool moved = dup3(fd, file_fd, O_CLOEXEC) >= 0;
  close(fd);
  return moved;
}

// The path that the last warning was about, so that each communicator of a process does not repeat it.
std::string& refused_path() {
  static std::string path;
  return path;
}

}  // namespace

void configure_log(LogLevel level, std::string_view file_pattern, int rank) {
  const std::scoped_lock lock(configuring);
  level_now.store(level, std::memory_order_relaxed);
  rank_now.store(rank, std::memory_order_relaxed);
  if (file_pattern.empty()) {
    target_fd.store(STDERR_FILENO, std::memory_order_relaxed);
    return;
  }
  const std::string path = fill_pattern(file_pattern, rank);
  if (open_file(path)) {
    target_fd.store(file_fd, std::memory_order_relaxed);
    return;
  }
  const std::string reason = std::strerror(errno);
  target_fd.store(STDERR_FILENO, std::memory_order_relaxed);
  if (level == LogLevel::none || path == refused_path()) return;
  refused_path() = path;
  write_line(STDERR_FILENO, LogLevel::warn, "log",
             "cannot append to HCOMM_DEBUG_FILE '" + path + "' (" + reason + "); lines go to standard error instead");
}

bool log_enabled(LogLevel level) {
  return level != LogLevel::none && level <= level_now.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view subsystem, std::string_view text) {
  if (!log_enabled(level)) return;
  write_line(target_fd.load(std::memory_order_relaxed), level, subsystem, text);
}

}  // namespace hcomm
