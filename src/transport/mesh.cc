#include "transport/mesh.h"

#include <algorithm>

#include "base/assert.h"
#include "transport/doorbell.h"
#include "transport/hub_context.h"

namespace hcomm {
namespace {

// A board for a rank that is alone on its host.
struct OwnBoard {
  explicit OwnBoard(int ranks) : lives(static_cast<std::size_t>(ranks)) {}

  std::vector<Life> lives;
  VerdictCell verdict;
};

class Mesh final : public Transport {
 public:
  explicit Mesh(MeshOptions options)
      : self_(options.rank),
        here_(std::move(options.here)),
        local_(std::move(options.local)),
        own_(local_ != nullptr ? 0 : options.ranks),
        board_(local_ != nullptr ? local_->board() : Board(options.ranks, own_.lives.data(), &own_.verdict)),
        context_(std::move(options.hub), options.context, board_, local_ != nullptr ? here_ : std::vector<bool>()) {
    for (std::size_t rank = 0; rank < options.pids.size(); ++rank) {
      if (!is_here(static_cast<int>(rank))) board_.set_pid(static_cast<int>(rank), options.pids[rank]);
    }
    if (local_ != nullptr) local_->sleep_at(context_.bell());
  }

  Channel& channel(int peer, Lane lane) override {
    HCOMM_ASSERT(peer != self_);
    return is_here(peer) ? local_->channel(peer, lane) : context_.channel(peer, lane);
  }

  Window* window() override { return nullptr; }
  Board& board() override { return board_; }

  int poll() override { return (local_ != nullptr ? local_->poll() : 0) + context_.poll(); }

  void arm() override {
    if (local_ != nullptr) local_->arm();
  }
  void disarm() override {
    if (local_ != nullptr) local_->disarm();
  }
  void sleep(TimeNs most) override {
    most = std::min(most, kLongestSleep);
    const bool silent = context_.sleep(most);
    disarm();
    if (silent && local_ != nullptr) local_->has_slept(most);
  }

  void inquire() override { context_.inquire(); }
  Rank reach() override { return context_.reach(); }
  void heed() override { context_.heed(); }
  void withdraw() override { context_.withdraw(); }

  void alarm() override {
    if (local_ != nullptr) local_->alarm();
    context_.alarm();
  }

  Traffic traffic(int peer) const override {
    Traffic traffic = local_ != nullptr ? local_->traffic(peer) : Traffic();
    traffic.over_network = context_.bytes_moved(peer);
    return traffic;
  }

 private:
  bool is_here(int peer) const { return local_ != nullptr && here_[static_cast<std::size_t>(peer)]; }

  const int self_;
  const std::vector<bool> here_;
  std::unique_ptr<ShmTransport> local_;
  OwnBoard own_;
  Board board_;
  HubContext context_;  // last: it writes to the board
};

}  // namespace

std::unique_ptr<Transport> open_mesh(MeshOptions options) { return std::make_unique<Mesh>(std::move(options)); }

}  // namespace hcomm
