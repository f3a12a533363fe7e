// The channels of one rank, made on first use: by peer and lane, and all that there are, to be polled.
//
// `Made` is a Channel; poll() and bytes_moved() ask it for the same.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "transport/transport.h"

namespace hcomm {

template <class Made>
class ChannelTable {
 public:
  ChannelTable(int ranks, int self) : self_(self), channels_(static_cast<std::size_t>(ranks)) {}

  template <class Make>  // Make: () -> std::unique_ptr<Made>
  Made& get(int peer, Lane lane, Make&& make) {
    HCOMM_ASSERT(peer >= 0 && static_cast<std::size_t>(peer) < channels_.size());
    HCOMM_ASSERT(peer != self_);
    std::unique_ptr<Lanes>& lanes = channels_[static_cast<std::size_t>(peer)];
    if (lanes == nullptr) lanes = std::make_unique<Lanes>();
    auto& channel = (*lanes)[static_cast<std::size_t>(lane)];
    if (channel == nullptr) {
      channel = make();
      made_.push_back(channel.get());
    }
    return *channel;
  }

  void clear() {
    made_.clear();
    channels_.clear();
  }

  // Of all channels; how much was done.
  int poll() {
    int work = 0;
    for (Made* const channel : made_) work += channel->poll();
    return work;
  }

  // Bytes both ways on all lanes to the peer.
  std::uint64_t bytes_moved(int peer) const {
    std::uint64_t bytes = 0;
    const std::unique_ptr<Lanes>& lanes = channels_[static_cast<std::size_t>(peer)];
    if (lanes == nullptr) return 0;
    for (const auto& channel : *lanes) {
      if (channel != nullptr) bytes += channel->bytes_moved();
    }
    return bytes;
  }

 private:
  using Lanes = std::array<std::unique_ptr<Made>, kLanes>;

  const int self_;
  std::vector<std::unique_ptr<Lanes>> channels_;  // [peer][lane]; few ranks talk to many
  std::vector<Made*> made_;
};

}  // namespace hcomm
