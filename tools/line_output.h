// Puts the lines of many writers on one or two outputs, so that no line holds bytes of two writers.
//
// A Line source collects one stream of one rank and gives whole lines to the output. The output is one queue for both
// standard output and standard error, because they are often the same terminal. It writes what fits without blocking, so that a
// slow reader never keeps the launcher from its other duties.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace hcomm {

// The outputs by number: 1 and 2.
class LineOutput {
 public:
  static constexpr std::size_t kEnough = std::size_t{4} << 20;  // queued bytes at which sources should pause

  LineOutput();

  // Queues bytes that end a line, or are a writer's last.
  void put(int target, std::string_view bytes);

  // Writes what can be written now. Bytes for a target that is closed are dropped.
  void flush_some();

  bool empty() const { return queue_.empty(); }
  bool full() const { return queued_bytes_ >= kEnough; }
  int waits_for() const { return queue_.empty() ? -1 : queue_.front().target; }  // poll it for POLLOUT
  bool closed(int target) const { return state(target).closed; }
  // Why bytes were lost, if for another reason than a reader that went away: "No space left on device".
  const std::string& failure() const { return failure_; }

 private:
  struct Piece {
    int target;
    std::string bytes;
    std::size_t written = 0;
  };
  struct Target {
    bool closed = false;
    bool whole_writes = false;    // a regular file: a write of any size returns at once
    bool at_line_start = true;
    Target* same = nullptr;       // the other one, if both are one file
  };
  Target& state(int target) { return targets_[static_cast<std::size_t>(target - 1)]; }
  const Target& state(int target) const { return targets_[static_cast<std::size_t>(target - 1)]; }
  bool write_front();

  std::array<Target, 2> targets_;
  std::deque<Piece> queue_;
  std::size_t queued_bytes_ = 0;
  std::string failure_;
};

// One stream of one rank.
class LineSource {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{16} << 20;  // a longer line is handed on in pieces

  LineSource(int target, std::string prefix) : target_(target), prefix_(std::move(prefix)) {}

  void feed(std::string_view bytes, LineOutput& output);
  void finish(LineOutput& output);  // the last line may have no end
  int target() const { return target_; }

 private:
  void hand_on(std::string_view lines, LineOutput& output) const;

  int target_;
  std::string prefix_;  // of each line; usually empty
  std::string rest_;    // the beginning of a line
};

}  // namespace hcomm
