#include "transport/shm.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/process.h"
#include "transport/channel_table.h"
#include "transport/doorbell.h"
#include "transport/keeper.h"
#include "transport/shm_channel.h"

namespace hcomm {
namespace {

void copy_plainly(void* target, const void* source, std::size_t bytes) { std::memcpy(target, source, bytes); }

LifeLine life_line(const Context& context, int self, const std::vector<bool>& here) {
  return {.ranks = context.geometry().ranks,
          .self = self,
          .pulses = context.pulses(),
          .doorbells = context.window(self).doorbells,
          .board = context.board(),
          .here = here};
}

class Shm final : public ShmTransport {
 public:
  // The keeper has been joined.
  Shm(Context context, const ShmOptions& options)
      : context_(std::move(context)),
        window_(context_.window(options.rank)),
        board_(context_.board()),
        line_(life_line(context_, options.rank, options.here)),
        sleeper_(window_.doorbells[options.rank]),
        copy_out_(options.copy_out != nullptr ? options.copy_out : &copy_plainly),
        process_(fork_generation()),
        channels_(window_.ranks, window_.self) {}

  ~Shm() override {
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
    return channels_.get(peer, lane, [&] { return std::make_unique<ShmChannel>(context_, window_, peer, lane, copy_out_); });
  }

  Window* window() override { return &window_; }
  Board& board() override { return board_; }

  int poll() override { return channels_.poll(); }

  void arm() override { sleeper_.arm(); }
  void disarm() override { sleeper_.disarm(); }

  void sleep(TimeNs most) override {
    if (!sleeper_.sleep(most)) has_slept(std::min(most, kLongestSleep));
  }

  void alarm() override {
    for (int rank = 0; rank < window_.ranks; ++rank) ring(window_, rank);
  }

  Traffic traffic(int peer) const override { return {.in_memory = channels_.bytes_moved(peer)}; }

  void sleep_at(BellName socket) override { window_.doorbells[window_.self].socket.store(socket, std::memory_order_relaxed); }

  void has_slept(TimeNs silence) override {
    silence_ += silence;
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
  ChannelTable<ShmChannel> channels_;
};

}  // namespace

Result<std::unique_ptr<ShmTransport>> open_shm(const ShmOptions& options) {
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
  if (Status status = join_keeper(life_line(context.value(), options.rank, options.here)); !status.ok()) {
    return std::move(status).during("opening the shared memory transport");
  }
  board.set_pid(options.rank, getpid());
  return std::unique_ptr<ShmTransport>(std::make_unique<Shm>(std::move(context).value(), options));
}

}  // namespace hcomm
