// One round of a meeting: who has arrived, who may, and what is wrong. Pure: no socket, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "bootstrap/message.h"

namespace hcomm {

// What comes of a hello.
struct Admission {
  Status status;               // success: the rank has arrived
  bool ends_the_round = false;  // the status is the whole round's: the ranks contradict each other
};

class Round {
 public:
  // `connection` is the caller's name for the way to this rank.
  struct Arrival {
    int connection = -1;
    Member member;
    std::string agreement;
  };

  explicit Round(int ranks) : arrivals_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(arrivals_.size()); }
  bool complete() const { return arrived_ == ranks(); }

  Admission admit(const Hello& hello, int visible_pid, int connection);

  // "3 of 4 ranks arrived"
  std::string arrived_text() const;
  // "2, 5-9"; at most about 200 characters
  std::string missing_text() const;
  // Why a round ends that waited for so long.
  Status timed_out(TimeNs waited) const;
  // Why a round ends that lost a rank.
  Status left(int rank) const;

  std::vector<Member> members() const;     // of a complete round
  // Of all that arrived, rank 0's last: it may be the serving process itself, which may end as soon as it has its answer.
  std::vector<int> connections() const;

 private:
  Admission check_agreement(const Hello& hello) const;

  std::vector<std::optional<Arrival>> arrivals_;  // [rank]
  int arrived_ = 0;
};

// The first knob in which two texts of "NAME=value;NAME=value" differ, as "HCOMM_ALGO is 'ring' on rank 0 and 'flat' on rank
// 1"; empty when they are the same. A value may hold ';' and '='.
std::string disagreement(std::string_view left, int left_rank, std::string_view right, int right_rank);

// "120 s", "1.5 s", "300 ms"
std::string duration_text(TimeNs duration);

}  // namespace hcomm
