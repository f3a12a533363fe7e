// What the hub knows of one communicator: its lanes, what has ended and is not yet told, who has left. It may exist before this
// rank's communicator does, for peers that were faster; then it has no board.
//
// Guarded by the hub's mutex.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/board.h"
#include "transport/tcp_lane.h"

namespace hcomm {

enum class Death : std::uint8_t {
  seen,     // its connection ended
  inferred  // it is not where it was
};

class ContextState final : public ChannelOwner {
 public:
  explicit ContextState(std::uint32_t id) : id_(id) {}

  std::uint32_t id() const { return id_; }

  // Made on first use, and not moved.
  TcpLane& lane(int peer, Lane lane);
  template <class Visit>
  void for_each_lane(Visit&& visit) {
    for (auto& [key, lane] : lanes_) visit(key.first, key.second, lane);
  }

  void finish(Completion& completion, Status status) override;

  // This rank's communicator is here; what came before it is made known to it.
  void set_board(const Board& board);
  // Who hears of everything through memory that it shares with this rank.
  void set_here(std::vector<bool> here) { here_ = std::move(here); }
  bool is_here(int peer) const { return !here_.empty() && here_[static_cast<std::size_t>(peer)]; }
  bool is_early() const { return !board_.has_value(); }
  Board* board() { return board_.has_value() ? &*board_ : nullptr; }
  bool is_over() const { return board_.has_value() && board_->has_verdict(); }

  void has_left(int peer);
  void has_died(int peer, Death how);
  void hears(const Verdict& verdict);
  void note() { has_news_ = true; }       // of the peers: to be looked at, but no progress of a call
  void heed() { has_news_ = false; }
  void note_bytes() { ++arrivals_; }

  // In the thread of the communicator: finishes what has ended. Returns how much was moved since the last time.
  int tell();
  bool has_news() const { return has_news_ || arrivals_ > 0 || !ended_.empty(); }

  bool spread = false;  // peers have been told of the verdict

 private:
  const std::uint32_t id_;
  std::map<std::pair<int, Lane>, TcpLane> lanes_;
  std::vector<std::pair<Completion*, Status>> ended_;
  int arrivals_ = 0;
  bool has_news_ = false;
  std::optional<Board> board_;
  std::vector<bool> here_;  // [rank]; empty: nobody
  std::vector<int> early_leavers_;
  std::unique_ptr<const Verdict> early_verdict_;
};

}  // namespace hcomm
