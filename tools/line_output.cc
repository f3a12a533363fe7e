#include "line_output.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hcomm {
namespace {

// What a pipe that polls as writable takes without blocking: one page.
constexpr std::size_t kPipeBytes = 4096;
constexpr std::size_t kFileBytes = std::size_t{1} << 20;
constexpr int kWritesATurn = 256;

bool writable_now(int target) {
  pollfd item{target, POLLOUT, 0};
  return poll(&item, 1, 0) > 0;
}

}  // namespace

LineOutput::LineOutput() {
  std::array<struct stat, 2> facts{};
  bool both = true;
  for (const int target : {1, 2}) {
    auto& fact = facts[static_cast<std::size_t>(target - 1)];
    if (fstat(target, &fact) != 0) {
      state(target).closed = true;
      both = false;
      continue;
    }
    state(target).whole_writes = S_ISREG(fact.st_mode);
  }
  if (both && facts[0].st_dev == facts[1].st_dev && facts[0].st_ino == facts[1].st_ino) {
    targets_[0].same = &targets_[1];
    targets_[1].same = &targets_[0];
  }
}

void LineOutput::put(int target, std::string_view bytes) {
  Target& own = state(target);
  if (bytes.empty() || own.closed) return;
  std::string text;
  if (!own.at_line_start) text += '\n';  // somebody's last line had no end
  text += bytes;
  own.at_line_start = bytes.back() == '\n';
  if (own.same != nullptr) own.same->at_line_start = own.at_line_start;
  queued_bytes_ += text.size();
  queue_.push_back({target, std::move(text)});
}

// False when the front has to wait.
bool LineOutput::write_front() {
  Piece& piece = queue_.front();
  Target& own = state(piece.target);
  if (!own.closed) {
    if (!writable_now(piece.target)) return false;
    const std::size_t most = own.whole_writes ? kFileBytes : kPipeBytes;
    const ssize_t written =
        write(piece.target, piece.bytes.data() + piece.written, std::min(most, piece.bytes.size() - piece.written));
    if (written < 0) {
      if (errno == EINTR) return true;
      if (errno == EAGAIN) return false;
      if (errno != EPIPE) failure_ = std::strerror(errno);
      own.closed = true;
    } else {
      piece.written += static_cast<std::size_t>(written);
    }
  }
  if (own.closed) piece.written = piece.bytes.size();
  if (piece.written == piece.bytes.size()) {
    queued_bytes_ -= piece.bytes.size();
    queue_.pop_front();
  }
  return true;
}

void LineOutput::flush_some() {
  for (int turn = 0; turn < kWritesATurn && !queue_.empty(); ++turn) {
    if (!write_front()) return;
  }
}

void LineSource::feed(std::string_view bytes, LineOutput& output) {
  const std::size_t end = bytes.rfind('\n');
  if (end == std::string_view::npos) {
    rest_ += bytes;
    if (rest_.size() < kMaxLine) return;
    hand_on(rest_, output);
    rest_.clear();
    return;
  }
  rest_ += bytes.substr(0, end + 1);
  hand_on(rest_, output);
  rest_.assign(bytes.substr(end + 1));
}

void LineSource::finish(LineOutput& output) {
  hand_on(rest_, output);
  rest_.clear();
}

void LineSource::hand_on(std::string_view lines, LineOutput& output) const {
  if (lines.empty()) return;
  if (prefix_.empty()) return output.put(target_, lines);
  std::string text;
  while (!lines.empty()) {
    const std::string_view line =
        lines.substr(0, lines.find('\n') == std::string_view::npos ? lines.size() : lines.find('\n') + 1);
    text += prefix_;
    text += line;
    lines.remove_prefix(line.size());
  }
  output.put(target_, text);
}

}  // namespace hcomm
