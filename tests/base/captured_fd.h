// What is written to a file descriptor while this lives. Up to what a pipe holds (64 KiB); more would block the writer.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/assert.h"

namespace hcomm {

class CapturedFd {
 public:
  explicit CapturedFd(int fd) : fd_(fd), saved_(dup(fd)) {
    std::array<int, 2> ends{};
    HCOMM_ASSERT(saved_ >= 0 && pipe2(ends.data(), O_CLOEXEC) == 0);
    reader_ = ends[0];
    HCOMM_ASSERT(dup2(ends[1], fd_) == fd_);
    close(ends[1]);
  }
  ~CapturedFd() { release(); }
  CapturedFd(const CapturedFd&) = delete;
  CapturedFd& operator=(const CapturedFd&) = delete;

  // Ends the capture and returns what was written.
  std::string text() {
    restore();
    std::string all;
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = read(reader_, piece.data(), piece.size())) > 0;) {
      all.append(piece.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    dup2(saved_, fd_);
    close(saved_);
    saved_ = -1;
  }
  void release() {
    restore();
    close(reader_);
  }

  int fd_;
  int saved_;
  int reader_ = -1;
};

}  // namespace hcomm
