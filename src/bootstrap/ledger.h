// The rounds of one job: which are open, and how those that ended did. Pure: no socket, no clock.
//
// Ranks number their rounds from 0 and may be in several at once, so rounds end nearly in order. What is remembered is
// bounded: a round far ahead of the oldest that has not ended is refused.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"
#include "bootstrap/round.h"

namespace hcomm {

class Ledger {
 public:
  static constexpr std::size_t kMaxOpenRounds = 64;
  static constexpr std::uint64_t kMaxAhead = 1024;
  static constexpr std::uint64_t kMaxRemembered = 64;  // reasons of rounds that ended

  // ranks: of the job; 0: the first hello says how many. An id of one round has only round 0.
  Ledger(int ranks, bool many_rounds) : ranks_(ranks), many_rounds_(many_rounds) {}

  // The open round that this hello is for, made if it is new; or why there is none.
  Result<Round*> find(const Hello& hello);
  Round* open_round(std::uint64_t number);  // null if there is none

  // This round, of a job of many, ended well.
  bool has_met(std::uint64_t number) const { return many_rounds_ && number < floor_ && !ended_badly(number); }

  // Ends an open round; hcommSuccess: it met.
  void end(std::uint64_t number, hcommResult_t code, std::string_view reason);

  // How round 0 of an id of one round ended; hcommInProgress: it has not.
  hcommResult_t outcome() const { return outcome_; }
  const std::map<std::uint64_t, Round>& open_rounds() const { return open_; }
  int ranks() const { return ranks_; }  // 0: not known yet

 private:
  struct Ended {
    hcommResult_t code;
    std::string reason;
  };
  Status has_ended(std::uint64_t number) const;
  bool ended_badly(std::uint64_t number) const;

  int ranks_;
  const bool many_rounds_;
  std::uint64_t floor_ = 0;  // all rounds below it have ended
  std::map<std::uint64_t, Round> open_;
  std::map<std::uint64_t, Ended> ended_;
  hcommResult_t outcome_ = hcommInProgress;
};

}  // namespace hcomm
