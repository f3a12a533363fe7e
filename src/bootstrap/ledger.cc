#include "bootstrap/ledger.h"

namespace hcomm {

Status Ledger::has_ended(std::uint64_t number) const {
  if (ended_badly(number)) {
    return Status::failure(ended_.at(number).code, "this meeting has failed already: " + ended_.at(number).reason);
  }
  if (!many_rounds_) {
    return Status::failure(hcommInvalidUsage,
                           "the communicator of this id was made already, by all of its ranks; one id makes one communicator");
  }
  return Status::failure(hcommInvalidUsage,
                         "communicator number " + std::to_string(number) +
                             " of this job was made already, by all of its ranks; this process is one too many");
}

bool Ledger::ended_badly(std::uint64_t number) const {
  const auto found = ended_.find(number);
  return found != ended_.end() && found->second.code != hcommSuccess;
}

Result<Round*> Ledger::find(const Hello& hello) {
  const std::uint64_t number = hello.round;
  if (const auto found = open_.find(number); found != open_.end()) return &found->second;
  if (number < floor_ || ended_.contains(number)) return has_ended(number);
  if (!many_rounds_ && number != 0) return Status::failure(hcommInvalidArgument, "an id makes one communicator");
  if (number - floor_ > kMaxAhead || open_.size() >= kMaxOpenRounds) {
    return Status::failure(hcommInvalidUsage, "communicator number " + std::to_string(number) +
                                                  " is too far ahead of the other ranks, who have not made number " +
                                                  std::to_string(floor_) + " yet");
  }
  if (ranks_ == 0) {
    if (hello.ranks < 1 || hello.ranks > kMaxMeetingRanks) {
      return Status::failure(hcommInvalidArgument,
                             std::to_string(hello.ranks) + " ranks; legal are 1 to " + std::to_string(kMaxMeetingRanks));
    }
    ranks_ = hello.ranks;
  }
  return &open_.emplace(number, Round(ranks_)).first->second;
}

Round* Ledger::open_round(std::uint64_t number) {
  const auto found = open_.find(number);
  return found == open_.end() ? nullptr : &found->second;
}

void Ledger::end(std::uint64_t number, hcommResult_t code, std::string_view reason) {
  HCOMM_ASSERT(open_.erase(number) == 1);
  ended_.emplace(number, Ended{code, std::string(reason)});
  while (ended_.contains(floor_)) ++floor_;
  while (!ended_.empty() && ended_.begin()->first + kMaxRemembered < floor_) ended_.erase(ended_.begin());
  if (!many_rounds_) outcome_ = code;
}

}  // namespace hcomm
