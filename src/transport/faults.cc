#include "transport/faults.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/random.h"

namespace hcomm {
namespace {

// What the channels of a transport share.
struct Moods {
  FaultPlan plan;
  Random random;
  std::uint64_t turn = 0;  // counts polls

  bool chance(int percent) { return random.below(100) < static_cast<std::uint64_t>(percent); }
  std::uint64_t due() {
    if (!chance(plan.hold)) return turn;
    return turn + 1 + random.below(static_cast<std::uint64_t>(plan.most_turns));
  }
};

// One direction of a channel: messages on their way in, and the ends of messages on their way out.
template <class Part>
class HeldQueue {
 public:
  void add(std::span<const Part> parts, std::uint64_t mark, Completion& outer, Moods& moods) {
    Held& held = held_.emplace_back();
    for (const Part& part : parts) {
      const std::size_t cut = moods.chance(moods.plan.split) ? moods.random.below(part.size() + 1) : part.size();
      held.parts.push_back(part.first(cut));
      if (cut < part.size()) held.parts.push_back(part.subspan(cut));
    }
    held.mark = mark;
    held.outer = &outer;
    held.due = moods.due();
  }

  // Posts what is due, in order.
  template <class Post>
  int post_due(std::uint64_t turn, Post&& post) {
    int work = 0;
    for (; posted_ < held_.size() && held_[posted_].due <= turn; ++posted_, ++work) {
      Held& held = held_[posted_];
      post(std::span<const Part>(held.parts), held.mark, held.inner);
    }
    return work;
  }

  // Tells of the ends that are due, in order.
  int tell_due(Moods& moods) {
    int work = 0;
    while (posted_ > 0 && held_.front().inner.finished) {
      Held& held = held_.front();
      if (!std::exchange(held.end_seen, true)) held.due = moods.due();
      if (held.due > moods.turn) break;
      held.outer->status = std::move(held.inner.status);
      held.outer->finished = true;
      held_.pop_front();
      --posted_;
      ++work;
    }
    return work;
  }

  // Something waits for a turn, not for a peer.
  bool holds() const { return posted_ < held_.size() || (posted_ > 0 && held_.front().inner.finished); }

 private:
  struct Held {
    std::vector<Part> parts;
    std::uint64_t mark = 0;
    Completion inner;
    Completion* outer = nullptr;
    std::uint64_t due = 0;
    bool end_seen = false;
  };

  std::deque<Held> held_;  // does not move its items
  std::size_t posted_ = 0;  // so many from the front have been posted
};

class FaultyChannel final : public Channel {
 public:
  FaultyChannel(Channel& inner, Moods& moods) : inner_(inner), moods_(moods) {}

  void send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion) override {
    sends_.add(parts, mark, completion, moods_);
    post_due();
  }
  void recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion) override {
    receives_.add(parts, mark, completion, moods_);
    post_due();
  }

  int post_due() {
    const auto send = [this](auto parts, std::uint64_t mark, Completion& inner) { inner_.send(parts, mark, inner); };
    const auto recv = [this](auto parts, std::uint64_t mark, Completion& inner) { inner_.recv(parts, mark, inner); };
    return sends_.post_due(moods_.turn, send) + receives_.post_due(moods_.turn, recv);
  }
  int tell_due() { return sends_.tell_due(moods_) + receives_.tell_due(moods_); }
  bool holds() const { return sends_.holds() || receives_.holds(); }

 private:
  Channel& inner_;  // borrowed
  Moods& moods_;    // of the transport
  HeldQueue<ConstBytes> sends_;
  HeldQueue<Bytes> receives_;
};

class FaultyTransport final : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> inner, FaultPlan plan, std::uint64_t seed)
      : moods_{plan, Random(seed)}, inner_(std::move(inner)) {}
  // The inner transport goes first: it holds the completions of the queues.
  ~FaultyTransport() override { inner_.reset(); }

  Channel& channel(int peer, Lane lane) override {
    Channel& inner = inner_->channel(peer, lane);
    FaultyChannel*& known = by_inner_[&inner];
    if (known == nullptr) known = &channels_.emplace_back(inner, moods_);
    return *known;
  }

  Window* window() override { return inner_->window(); }
  Board& board() override { return inner_->board(); }
  void inquire() override { inner_->inquire(); }
  Rank reach() override { return inner_->reach(); }
  void heed() override { inner_->heed(); }
  void withdraw() override { inner_->withdraw(); }
  void alarm() override { inner_->alarm(); }
  Traffic traffic(int peer) const override { return inner_->traffic(peer); }

  int poll() override {
    ++moods_.turn;
    refused_ = moods_.chance(moods_.plan.refuse);
    if (refused_) return 0;
    int work = 0;
    for (FaultyChannel& channel : channels_) work += channel.post_due();
    work += inner_->poll();
    for (FaultyChannel& channel : channels_) work += channel.tell_due();
    return work;
  }

  void arm() override { inner_->arm(); }
  void disarm() override { inner_->disarm(); }

  // What is held here nobody rings for.
  void sleep(TimeNs most) override {
    bool holds = refused_ || moods_.chance(moods_.plan.wake);
    for (const FaultyChannel& channel : channels_) holds = holds || channel.holds();
    if (holds) {
      inner_->disarm();
    } else {
      inner_->sleep(most);
    }
  }

 private:
  Moods moods_;
  std::unique_ptr<Transport> inner_;
  std::deque<FaultyChannel> channels_;  // in the order they were made, and not moved
  std::map<Channel*, FaultyChannel*> by_inner_;
  bool refused_ = false;  // the last poll
};

}  // namespace

std::unique_ptr<Transport> make_faulty(std::unique_ptr<Transport> inner, FaultPlan plan, std::uint64_t seed) {
  return std::make_unique<FaultyTransport>(std::move(inner), plan, seed);
}

}  // namespace hcomm
