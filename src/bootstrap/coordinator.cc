#include "bootstrap/coordinator.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "bootstrap/server.h"

namespace hcomm {
namespace {

constexpr TimeNs kShortestSleep = 5 * kMillisecond;
constexpr TimeNs kLongestSleep = 60 * kSecond;

class ThreadedCoordinator final : public Coordinator {
 public:
  ThreadedCoordinator(const JobId& id, Descriptor listener, Descriptor stop, CoordinatorOptions options)
      : stop_(std::move(stop)), server_(id, std::move(listener), std::move(options)) {}

  ~ThreadedCoordinator() override {
    if (!thread_.joinable()) return;
    stopping_.store(true);
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }

  Status start() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread inherits its maker's mask
    Status status;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      status = Status::failure(hcommSystemError, std::string("cannot start the meeting's thread: ") + error.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return status;
  }

  bool finished() const override { return finished_.load(std::memory_order_acquire); }

  void abandon_in_child() override {
    stop_.reset();
    server_.close_all();
  }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "hcomm-meet");
    const MonotonicClock clock;
    std::vector<pollfd> items;
    while (!stopping_.load() && !server_.finished(clock.now())) {
      items.clear();
      server_.list_descriptors(items);
      items.push_back({stop_.get(), POLLIN, 0});
      const TimeNs left = std::clamp(server_.next_deadline() - clock.now(), kShortestSleep, kLongestSleep);
      const timespec time{left / kSecond, left % kSecond};
      if (ppoll(items.data(), items.size(), &time, nullptr) < 0) {
        for (pollfd& item : items) item.revents = 0;  // no memory: only look at the deadlines
      }
      server_.turn(items, clock.now());
    }
    server_.close_all();
    finished_.store(true, std::memory_order_release);
  }

  Descriptor stop_;  // an eventfd that ends the sleep
  Server server_;    // the thread's own, once it runs
  std::atomic<bool> stopping_{false};
  std::atomic<bool> finished_{false};
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Coordinator>> start_coordinator(const JobId& id, CoordinatorOptions options) {
  HCOMM_ASSERT(options.make_segment != nullptr);
  if (options.ranks < 0 || options.ranks > kMaxMeetingRanks) {
    return Status::failure(hcommInvalidArgument,
                           std::to_string(options.ranks) + " ranks; legal are 1 to " + std::to_string(kMaxMeetingRanks));
  }
  Result<Descriptor> listener = listen_at(id, options.name_until);
  if (!listener.ok()) return std::move(listener).status();
  Descriptor stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.open()) return Status::failure(hcommSystemError, std::string("cannot make an eventfd: ") + std::strerror(errno));
  auto made = std::make_unique<ThreadedCoordinator>(id, std::move(listener).value(), std::move(stop), std::move(options));
  if (Status status = made->start(); !status.ok()) return status;
  return std::unique_ptr<Coordinator>(std::move(made));
}

}  // namespace hcomm
