#include "comm/drivers.h"

#include <atomic>
#include <condition_variable>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace hcomm {
namespace {

struct Table {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::thread::id> owners;  // guarded by mutex
};

class Seat final : public DriverSeat {
 public:
  Seat(std::shared_ptr<Table> table, int rank) : table_(std::move(table)), rank_(rank) {}

  void take() override {
    const std::thread::id self = std::this_thread::get_id();
    if (known_.load(std::memory_order_relaxed) == self) return;
    const std::lock_guard lock(table_->mutex);
    table_->owners[static_cast<std::size_t>(rank_)] = self;
    known_.store(self, std::memory_order_relaxed);
    table_->changed.notify_all();
  }

  Status await_others(TimeNs patience) override {
    if (alone_) return {};
    std::unique_lock lock(table_->mutex);
    const auto none_left = [&] { return other_of(std::this_thread::get_id()) < 0; };
    if (table_->changed.wait_for(lock, std::chrono::nanoseconds(patience), none_left)) {
      alone_ = true;
      return {};
    }
    return Status::failure(
        hcommInvalidUsage,
        "rank " + std::to_string(rank_) + " and rank " + std::to_string(other_of(std::this_thread::get_id())) +
            " are driven by the same thread, so a blocking call on one can never end: put the calls of all ranks between "
            "hcommGroupStart and hcommGroupEnd, or give each rank a thread");
  }

 private:
  int other_of(std::thread::id self) const {
    for (std::size_t rank = 0; rank < table_->owners.size(); ++rank) {
      if (static_cast<int>(rank) != rank_ && table_->owners[rank] == self) return static_cast<int>(rank);
    }
    return -1;
  }

  const std::shared_ptr<Table> table_;
  const int rank_;
  std::atomic<std::thread::id> known_{};
  bool alone_ = false;  // of the thread inside: it has no other rank, and never gets one back
};

}  // namespace

std::vector<std::unique_ptr<DriverSeat>> make_seats(int ranks) {
  const auto table = std::make_shared<Table>();
  table->owners.assign(static_cast<std::size_t>(ranks), std::this_thread::get_id());
  std::vector<std::unique_ptr<DriverSeat>> seats;
  for (int rank = 0; rank < ranks; ++rank) seats.push_back(std::make_unique<Seat>(table, rank));
  return seats;
}

}  // namespace hcomm
