#include "transport/context_state.h"

namespace hcomm {

TcpLane& ContextState::lane(int peer, Lane lane) { return lanes_.try_emplace({peer, lane}, *this, peer).first->second; }

void ContextState::finish(Completion& completion, Status status) { ended_.emplace_back(&completion, std::move(status)); }

void ContextState::set_board(const Board& board) {
  board_ = board;
  for (const int peer : early_leavers_) board_->set_left(peer);
  if (early_verdict_ != nullptr) board_->give(*early_verdict_);
  early_leavers_ = std::vector<int>();
}

void ContextState::has_left(int peer) {
  note();
  if (board_.has_value()) return board_->set_left(peer);
  early_leavers_.push_back(peer);
}

void ContextState::has_died(int peer, Death how) {
  if (!board_.has_value() || board_->is_dead(peer)) return;  // an early one finds the peer gone when it comes
  note();
  how == Death::seen ? board_->set_dead(peer) : board_->set_missing(peer);
}

void ContextState::hears(const Verdict& verdict) {
  note();
  if (board_.has_value()) {
    board_->give(verdict);
  } else if (early_verdict_ == nullptr) {
    early_verdict_ = std::make_unique<const Verdict>(verdict);
  }
}

int ContextState::tell() {
  const int moved = arrivals_ + static_cast<int>(ended_.size());
  for (auto& [completion, status] : ended_) {
    completion->status = std::move(status);
    completion->finished = true;
  }
  ended_.clear();
  arrivals_ = 0;
  return moved;
}

}  // namespace hcomm
