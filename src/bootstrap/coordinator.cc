#include "bootstrap/coordinator.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <system_error>
#include <thread>

#include "bootstrap/server.h"
#include "bootstrap/tcp_door.h"
#include "bootstrap/unix_door.h"

namespace hcomm {
namespace {

constexpr TimeNs kShortestSleep = 5 * kMillisecond;
constexpr TimeNs kLongestSleep = 60 * kSecond;

class ThreadedCoordinator final : public Coordinator {
 public:
  ThreadedCoordinator(const JobId& id, CoordinatorOptions options, std::unique_ptr<KernelNetwork> network)
      : network_(std::move(network)), server_(id, std::move(options)) {}

  ~ThreadedCoordinator() override {
    if (!thread_.joinable()) return;
    stopping_.store(true);
    network_->wake();
    thread_.join();
  }

  Status open_doors(const JobId& id, const CoordinatorOptions& options) {
    Result<Descriptor> listener = listen_at(id, options.name_until);
    if (!listener.ok()) return std::move(listener).status();
    Result<std::unique_ptr<UnixDoor>> here = UnixDoor::open(*network_, std::move(listener).value(), options.warn);
    if (!here.ok()) return std::move(here).status();
    unix_door_ = std::move(here).value();
    if (options.listen_at.empty()) return {};
    Result<std::unique_ptr<TcpDoor>> elsewhere =
        TcpDoor::open(*network_, id, {.at = options.listen_at, .ports = options.ports, .warn = options.warn});
    if (!elsewhere.ok()) return std::move(elsewhere).status().during("listening for ranks of other hosts");
    tcp_door_ = std::move(elsewhere).value();
    addresses_ = tcp_door_->addresses();
    return {};
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
  std::vector<Address> addresses() const override { return addresses_; }

  void abandon_in_child() override {
    network_->close_all_in_child();
    if (unix_door_ != nullptr) unix_door_->close_in_child();
    server_.close_in_child();
  }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "hcomm-meet");
    const Clock& clock = network_->clock();
    while (!stopping_.load() && !server_.finished(clock.now())) {
      network_->wait(std::clamp(next_deadline() - clock.now(), kShortestSleep, kLongestSleep));
      network_->dispatch();
      unix_door_->let_in(server_, clock.now());
      if (tcp_door_ != nullptr) let_in_from_network(clock.now());
      server_.turn(clock.now());
    }
    server_.close_all();
    unix_door_.reset();
    tcp_door_.reset();
    finished_.store(true, std::memory_order_release);
  }

  TimeNs next_deadline() const {
    const TimeNs next = server_.next_deadline();
    if (!server_.has_room()) return next;
    const TimeNs elsewhere = tcp_door_ == nullptr ? kNever : tcp_door_->next_deadline();
    return std::min({next, unix_door_->next_deadline(), elsewhere});
  }

  void let_in_from_network(TimeNs now) {
    while (server_.has_room()) {
      std::optional<TcpDoor::Guest> guest = tcp_door_->next(now);
      if (!guest.has_value()) return;
      server_.let_in({.line = std::move(guest->line), .remote = true, .claimed_rank = guest->rank}, now);
    }
  }

  // The thread's own, once it runs; but for wake().
  std::unique_ptr<KernelNetwork> network_;
  std::unique_ptr<UnixDoor> unix_door_;
  std::unique_ptr<TcpDoor> tcp_door_;  // may be null
  Server server_;

  std::vector<Address> addresses_;  // constant once it runs
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
  Result<std::unique_ptr<KernelNetwork>> network = KernelNetwork::open();
  if (!network.ok()) return std::move(network).status();
  auto made = std::make_unique<ThreadedCoordinator>(id, options, std::move(network).value());
  if (Status status = made->open_doors(id, options); !status.ok()) return status;
  if (Status status = made->start(); !status.ok()) return status;
  return std::unique_ptr<Coordinator>(std::move(made));
}

}  // namespace hcomm
