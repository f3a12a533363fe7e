// What the ranks of a communicator find out together when it is made, after the meeting has told them of each other: whether
// all can map the windows of all. Where there are no windows there is nothing to find out, and no way between two ranks is made
// before a call needs it.
#include "comm/communicator.h"

namespace hcomm {

bool Communicator::has_to_agree() const { return ranks_ > 1 && cache_.facts().has_window; }

Status Communicator::begin_agreement() {
  agreeing_ = ranks_ > 1;
  reaching_ = agreeing_ && !has_to_agree();
  if (!has_to_agree()) return {};
  all_can_map_ = can_map_peers_ ? 1 : 0;
  queue({.collective = Collective::allreduce,
         .send = &all_can_map_,
         .recv = &all_can_map_,
         .count = 1,
         .dtype = hcommInt64,
         .op = hcommMin});
  return {};
}

Status Communicator::finish_agreement() {
  agreeing_ = false;
  if (!has_to_agree()) return {};
  windows_agreed_ = all_can_map_ != 0;
  cache_.learn(SharedFacts(cache_.facts()));
  engine_.forget_buffers();
  watches_ = std::vector<Watch>();
  queued_ = std::vector<CollectiveCall>();
  sequence_ = 0;
  last_call_ = {};
  return {};
}

// Moves the making of ways on. Returns how much was done.
int Communicator::reach() {
  const int work = transport_->poll();
  reaching_ = transport_->reach() != kNoRank;
  return work + (reaching_ ? 0 : 1);
}

}  // namespace hcomm
