// What the ranks of a communicator find out together when it is made, after the meeting has told them of each other: whether
// all can map the windows of all. Where there are no windows there is nothing to find out, and no way between two ranks is made
// before a call needs it.
#include "comm/communicator.h"

namespace hcomm {

bool Communicator::has_to_agree() const { return ranks_ > 1 && cache_.facts().has_window; }

Status Communicator::begin_agreement() {
  if (!has_to_agree()) return {};
  agreeing_ = true;
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
  if (!has_to_agree()) return {};
  agreeing_ = false;
  windows_agreed_ = all_can_map_ != 0;
  cache_.learn(SharedFacts(cache_.facts()));
  engine_.forget_buffers();
  watches_ = std::vector<Watch>();
  queued_ = std::vector<CollectiveCall>();
  sequence_ = 0;
  last_call_ = {};
  return {};
}

}  // namespace hcomm
