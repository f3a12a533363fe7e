// One round of a meeting: who has arrived, who may, and what is wrong. Pure: no socket, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "bootstrap/message.h"
#include "bootstrap/route.h"

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
    bool remote = false;  // came over the network, and can be handed no descriptor
    bool settled = false;
    Member member;
    std::vector<Address> meets_at;
    std::string agreement;
  };
  struct Origin {
    int connection = -1;
    bool remote = false;
    int visible_pid = 0;
  };

  explicit Round(int ranks) : arrivals_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(arrivals_.size()); }
  bool complete() const { return arrived_ == ranks(); }

  // The round will end badly, because this rank contradicts the others. It and they are kept until all have come, so that all
  // are told: the serving process may end as soon as it has been. The first reason stays.
  void condemn(hcommResult_t code, std::string_view why, int rank, int connection);
  bool is_condemned() const { return code_ != hcommSuccess; }
  Status condemned() const;  // why
  bool all_have_come() const { return arrived_ + static_cast<int>(dissenters_.size()) >= ranks(); }

  Admission admit(const Hello& hello, const Origin& origin);

  // Of a complete round: some ranks came over the network, so it goes on until all have settled.
  bool goes_on() const;
  void settle(int rank);
  bool all_settled() const { return settled_ == ranks(); }

  // "3 of 4 ranks arrived; missing: 2, 5-9", or what a complete round waits for; at most about 300 characters
  std::string news() const;
  // Why a round ends that waited for so long.
  Status timed_out(TimeNs waited) const;
  // Why a round ends that lost a rank.
  Status left(int rank) const;
  // Why a round ends in which a rank cannot go on.
  Status failed(int rank, hcommResult_t code, std::string_view why) const;

  std::vector<Member> members() const;     // of a complete round
  std::vector<Seat> seats() const;         // of a complete round
  // Of all that arrived or contradict, rank 0's last: it may be the serving process itself, which may end as soon as it has its
  // answer.
  std::vector<int> connections() const;

 private:
  struct Dissenter {
    int rank;
    int connection;
  };
  Admission check_agreement(const Hello& hello) const;
  const Arrival& arrival(int rank) const;
  std::string arrived_text() const;
  std::string awaited_text() const;

  std::vector<std::optional<Arrival>> arrivals_;  // [rank]
  int arrived_ = 0;
  int settled_ = 0;
  hcommResult_t code_ = hcommSuccess;  // why it is condemned
  std::string why_;
  std::vector<Dissenter> dissenters_;
};

// The first knob in which two texts of "NAME=value;NAME=value" differ, as "HCOMM_ALGO is 'ring' on rank 0 and 'flat' on rank
// 1"; empty when they are the same. A value may hold ';' and '='.
std::string disagreement(std::string_view left, int left_rank, std::string_view right, int right_rank);

// "120 s", "1.5 s", "300 ms"
std::string duration_text(TimeNs duration);

}  // namespace hcomm
