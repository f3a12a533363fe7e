#include "transport/hub_context.h"

namespace hcomm {
namespace {

constexpr TimeNs kLongestAlarm = 20 * kMillisecond;  // for what is said to leave this process

}  // namespace

// The engine's end of a lane.
class TcpChannel final : public Channel {
 public:
  TcpChannel(Hub& hub, std::uint32_t context, int peer, Lane lane, TcpLane& state)
      : hub_(hub), context_(context), peer_(peer), lane_(lane), state_(state) {}

  void send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion) override {
    const std::lock_guard lock(hub_.mutex_);
    state_.post_send(parts, mark, completion);
    hub_.want_to_send(context_, peer_, lane_, state_);
  }

  void recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion) override {
    const std::lock_guard lock(hub_.mutex_);
    state_.post_recv(parts, mark, completion);
    hub_.want_to_receive(context_, peer_, lane_, state_);
  }

 private:
  Hub& hub_;  // borrowed from the context
  const std::uint32_t context_;
  const int peer_;
  const Lane lane_;
  TcpLane& state_;
};

HubContext::HubContext(SharedHub hub, std::uint32_t id, const Board& board, std::vector<bool> here)
    : hub_(std::move(hub)), id_(id), channels_(static_cast<int>(hub_->peers_.size()), hub_->self_) {
  const std::lock_guard lock(hub_->mutex_);
  state_ = &hub_->open_context(id, board);
  state_->set_here(std::move(here));
}

HubContext::~HubContext() {
  channels_.clear();
  if (hub_->abandoned_) return;  // the child of a fork
  const std::lock_guard lock(hub_->mutex_);
  hub_->close_context(*state_);
}

Channel& HubContext::channel(int peer, Lane lane) {
  return channels_.get(peer, lane, [&] {
    const std::lock_guard lock(hub_->mutex_);
    hub_->need(peer);
    return std::make_unique<TcpChannel>(*hub_, id_, peer, lane, state_->lane(peer, lane));
  });
}

int HubContext::poll() {
  const std::lock_guard lock(hub_->mutex_);
  if (!hub_->waited_for_) hub_->network_->wait(0);
  if (!hub_->waited_for_) hub_->dispatch();
  if (state_->is_over()) hub_->spread(*state_);
  return state_->tell();
}

bool HubContext::sleep(TimeNs most) {
  std::unique_lock lock(hub_->mutex_);
  if (state_->has_news() || hub_->has_turns()) return false;
  if (hub_->waited_for_) {
    hub_->changed_.wait_for(lock, std::chrono::nanoseconds(most));
    return !state_->has_news();
  }
  hub_->waited_for_ = true;
  lock.unlock();
  hub_->network_->wait(most);
  lock.lock();
  hub_->waited_for_ = false;
  hub_->dispatch();
  hub_->tend();
  const bool silent = !state_->has_news();
  lock.unlock();
  hub_->changed_.notify_all();
  return silent;
}

BellName HubContext::bell() const { return hub_->bell_ != nullptr ? hub_->bell_->name() : 0; }

Rank HubContext::reach() {
  const std::lock_guard lock(hub_->mutex_);
  const auto ranks = static_cast<int>(hub_->peers_.size());
  Rank missing = kNoRank;
  for (int distance = 1; distance < ranks; distance *= 2) {
    const int after = (hub_->self_ + distance) % ranks;
    const int before = (hub_->self_ + ranks - distance) % ranks;
    for (const int peer : {after, before}) {  // both, for one that died before it dialled is not heard of otherwise
      if (state_->is_here(peer)) continue;
      hub_->need(peer);
      if (!hub_->is_settled(peer)) missing = peer;
    }
  }
  return missing;
}

void HubContext::inquire() {
  const std::lock_guard lock(hub_->mutex_);
  hub_->ask_everybody(id_);
  hub_->tend();
}

void HubContext::heed() {
  const std::lock_guard lock(hub_->mutex_);
  state_->heed();
}

void HubContext::withdraw() {
  const std::lock_guard lock(hub_->mutex_);
  state_->for_each_lane([&](int peer, Lane, TcpLane& lane) {
    if (Link* const link = hub_->peer(peer).link.get()) link->keep_rest(lane);
    lane.fail(hcommAborted, "the call has failed");
  });
  state_->tell();
}

void HubContext::alarm() {
  {
    std::unique_lock lock(hub_->mutex_);
    if (state_->is_over()) hub_->spread(*state_);
    hub_->settle(lock, kLongestAlarm, Hub::Until::sent);
  }
  wake();
}

void HubContext::wake() {
  hub_->network_->wake();
  hub_->changed_.notify_all();
}

std::uint64_t HubContext::bytes_moved(int peer) const {
  const std::lock_guard lock(hub_->mutex_);
  std::uint64_t bytes = 0;
  state_->for_each_lane([&](int other, Lane, const TcpLane& lane) {
    if (other == peer) bytes += lane.bytes_sent() + lane.bytes_received();
  });
  return bytes;
}

}  // namespace hcomm
