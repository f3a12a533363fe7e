#include "transport/shm.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/process.h"
#include "transport/doorbell.h"
#include "transport/keeper.h"
#include "transport/shm_channel.h"

namespace hcomm {
namespace {

void copy_plainly(void* target, const void* source, std::size_t bytes) { std::memcpy(target, source, bytes); }

LifeLine life_line(const Context& context, int self) {
  return {.ranks = context.geometry().ranks,
          .self = self,
          .pulses = context.pulses(),
          .doorbells = context.window(self).doorbells,
          .board = context.board()};
}

class ShmTransport final : public Transport {
 public:
  // The keeper has been joined.
  ShmTransport(Context context, int self, CopyOut copy_out)
      : context_(std::move(context)),
        window_(context_.window(self)),
        board_(context_.board()),
        line_(life_line(context_, self)),
        sleeper_(window_.doorbells[self]),
        copy_out_(copy_out),
        process_(fork_generation()),
        channels_(static_cast<std::size_t>(window_.ranks)) {}

  ~ShmTransport() override {
    if (fork_generation() != process_) {
      context_.forget();
      return;
    }
    board_.set_left(window_.self);
    leave_keeper(line_);
    for (int rank = 0; rank < window_.ranks; ++rank) {
      if (rank != window_.self) ring_always(window_.doorbells[rank]);
    }
  }

  Channel& channel(int peer, Lane lane) override {
    HCOMM_ASSERT(peer >= 0 && peer < window_.ranks);
    HCOMM_ASSERT(peer != window_.self);
    auto& channel = channels_[static_cast<std::size_t>(peer)][static_cast<std::size_t>(lane)];
    if (channel == nullptr) {
      channel = std::make_unique<ShmChannel>(context_, window_, peer, lane, copy_out_);
      made_.push_back(channel.get());
    }
    return *channel;
  }

  Window* window() override { return &window_; }
  Board& board() override { return board_; }

  int poll() override {
    int work = 0;
    for (ShmChannel* channel : made_) work += channel->poll();
    return work;
  }

  void arm() override { sleeper_.arm(); }
  void disarm() override { sleeper_.disarm(); }

  void sleep(TimeNs most) override {
    if (sleeper_.sleep(most)) return;
    silence_ += std::min(most, kLongestSleep);
    if (silence_ < kLongestSleep) return;
    silence_ = 0;
    check_processes(line_);
  }

 private:
  Context context_;
  Window window_;
  Board board_;
  LifeLine line_;
  Sleeper sleeper_;
  TimeNs silence_ = 0;  // slept through since the last check of the processes
  CopyOut copy_out_;
  std::uint32_t process_;  // the fork generation it was made in
  std::vector<std::array<std::unique_ptr<ShmChannel>, kLanes>> channels_;  // [peer][lane]
  std::vector<ShmChannel*> made_;
};

}  // namespace

Result<std::unique_ptr<Transport>> open_shm(const ShmOptions& options) {
  const Geometry geometry = {
      .ranks = options.ranks, .slots = options.slots, .slot_bytes = options.slot_bytes, .ring_bytes = options.ring_bytes};
  if (options.rank < 0 || options.rank >= options.ranks) {
    return Status::failure(hcommInvalidArgument,
                           "rank " + std::to_string(options.rank) + " of " + std::to_string(options.ranks));
  }
  auto context = Context::map(options.segment_fd, options.context, geometry);
  if (!context.ok()) return std::move(context).status().during("opening the shared memory transport");
  Board board = context.value().board();
  if (board.is_dead(options.rank)) {
    return Status::failure(hcommInvalidUsage, "rank " + std::to_string(options.rank) + " of this communicator has left it");
  }
  if (Status status = join_keeper(life_line(context.value(), options.rank)); !status.ok()) {
    return std::move(status).during("opening the shared memory transport");
  }
  board.set_pid(options.rank, getpid());
  const CopyOut copy_out = options.copy_out != nullptr ? options.copy_out : &copy_plainly;
  return std::unique_ptr<Transport>(
      std::make_unique<ShmTransport>(std::move(context).value(), options.rank, copy_out));
}

}  // namespace hcomm
