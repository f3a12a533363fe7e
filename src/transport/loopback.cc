#include "transport/loopback.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <tuple>

#include "transport/channel_table.h"
#include "transport/cursor.h"
#include "transport/doorbell.h"

namespace hcomm {
namespace {

struct PostedSend {
  std::vector<std::byte> message;  // a copy: the sender's memory is read by nobody else, however its call ends
  std::uint64_t mark = 0;
  Completion* completion = nullptr;
};

struct PostedRecv {
  std::vector<Bytes> parts;
  std::uint64_t mark = 0;
  Completion* completion = nullptr;
};

// What flows from one rank to another on one lane. The sender posts, the receiver takes, the sender learns of it.
struct Flow {
  std::mutex mutex;               // guards all fields
  std::deque<PostedSend> posted;  // not yet taken
  std::deque<Completion*> taken;  // to be finished by the sender, in its own thread
};

struct FreePages {
  void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{kPageBytes}); }
};

// What the ranks share. Lives as long as one of them.
class Commons {
 public:
  explicit Commons(const LoopbackOptions& options)
      : ranks_(options.ranks),
        steps_(static_cast<std::size_t>(options.ranks)),
        doorbells_(static_cast<std::size_t>(options.ranks)),
        lives_(static_cast<std::size_t>(options.ranks)),
        records_(static_cast<std::size_t>(options.ranks) * static_cast<std::size_t>(options.slots)),
        slot_memory_(static_cast<std::byte*>(
            ::operator new(records_.size() * options.slot_bytes + kPageBytes, std::align_val_t{kPageBytes}))) {}

  Window window(const LoopbackOptions& options, int self) {
    return {.ranks = ranks_,
            .self = self,
            .slots = options.slots,
            .slot_bytes = options.slot_bytes,
            .steps = steps_.data(),
            .doorbells = doorbells_.data(),
            .records = records_.data(),
            .slot_memory = slot_memory_.get()};
  }
  Board board() { return {ranks_, lives_.data(), &verdict_}; }

  Flow& flow(int from, int to, Lane lane) {
    const std::lock_guard lock(mutex_);
    return flows_[{from, to, lane}];
  }

 private:
  const int ranks_;
  std::vector<StepLine> steps_;
  std::vector<Doorbell> doorbells_;
  std::vector<Life> lives_;
  std::vector<ExposedRecord> records_;
  std::unique_ptr<std::byte, FreePages> slot_memory_;  // left untouched: pages go where their rank runs
  VerdictCell verdict_;
  std::mutex mutex_;  // guards flows_; a flow, once made, stays where it is
  std::map<std::tuple<int, int, Lane>, Flow> flows_;
};

class LoopbackChannel final : public Channel {
 public:
  LoopbackChannel(Commons& commons, Window& window, int peer, Lane lane)
      : window_(window),
        peer_(peer),
        outgoing_(commons.flow(window.self, peer, lane)),
        incoming_(commons.flow(peer, window.self, lane)) {}

  ~LoopbackChannel() override {
    const std::lock_guard lock(outgoing_.mutex);  // completions of ours are forgotten
    outgoing_.posted.clear();
    outgoing_.taken.clear();
  }

  void send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion) override {
    PostedSend posted{.message = {}, .mark = mark, .completion = &completion};
    for (const ConstBytes& part : parts) posted.message.insert(posted.message.end(), part.begin(), part.end());
    bytes_moved_ += posted.message.size();
    {
      const std::lock_guard lock(outgoing_.mutex);
      outgoing_.posted.push_back(std::move(posted));
    }
    ++unfinished_sends_;
    ring(window_, peer_);
  }

  void recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion) override {
    receives_.push_back({{parts.begin(), parts.end()}, mark, &completion});
  }

  int poll() { return finish_taken() + take_posted(); }
  std::uint64_t bytes_moved() const { return bytes_moved_; }

 private:
  int finish_taken() {
    if (unfinished_sends_ == 0) return 0;
    std::deque<Completion*> taken;
    {
      const std::lock_guard lock(outgoing_.mutex);
      taken.swap(outgoing_.taken);
    }
    for (Completion* completion : taken) completion->finished = true;
    unfinished_sends_ -= taken.size();
    return static_cast<int>(taken.size());
  }

  int take_posted() {
    int work = 0;
    while (!receives_.empty() && take_one(receives_.front())) {
      receives_.pop_front();
      ++work;
    }
    if (work > 0) ring(window_, peer_);
    return work;
  }

  // False: nothing has come.
  bool take_one(PostedRecv& receive) {
    if (broken_) {
      fail(receive, "a receive from rank " + std::to_string(peer_) + " after one that did not fit");
      return true;
    }
    const std::lock_guard lock(incoming_.mutex);
    if (incoming_.posted.empty()) return false;
    PostedSend& posted = incoming_.posted.front();
    const ConstBytes message(posted.message);
    ConstCursor source({&message, 1});
    Cursor target(receive.parts);
    if (posted.mark != receive.mark) {
      broken_ = true;
      fail(receive, wrong_mark(peer_));
    } else if (source.left() != target.left()) {
      broken_ = true;
      fail(receive, wrong_length(peer_, source.left(), target.left()));
    } else {
      bytes_moved_ += source.left();
      copy_between(source, target);
      receive.completion->finished = true;
    }
    incoming_.taken.push_back(posted.completion);
    incoming_.posted.pop_front();
    return true;
  }

  static void fail(PostedRecv& receive, const std::string& what) {
    receive.completion->status = Status::failure(hcommMismatch, what);
    receive.completion->finished = true;
  }

  Window& window_;  // borrowed from the transport
  const int peer_;
  Flow& outgoing_;  // borrowed from the commons
  Flow& incoming_;
  std::size_t unfinished_sends_ = 0;
  std::uint64_t bytes_moved_ = 0;
  std::deque<PostedRecv> receives_;
  bool broken_ = false;  // a message did not fit its receive
};

class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(std::shared_ptr<Commons> commons, const LoopbackOptions& options, int self)
      : commons_(std::move(commons)),
        window_(commons_->window(options, self)),
        board_(commons_->board()),
        sleeper_(window_.doorbells[self]),
        channels_(options.ranks, self) {
    board_.set_pid(self, getpid());
  }

  ~LoopbackTransport() override {
    channels_.clear();
    board_.set_left(window_.self);
    for (int rank = 0; rank < window_.ranks; ++rank) ring_always(window_.doorbells[rank]);
  }

  Channel& channel(int peer, Lane lane) override {
    return channels_.get(peer, lane, [&] { return std::make_unique<LoopbackChannel>(*commons_, window_, peer, lane); });
  }

  Window* window() override { return &window_; }
  Board& board() override { return board_; }

  void alarm() override {
    for (int rank = 0; rank < window_.ranks; ++rank) ring(window_, rank);
  }

  Traffic traffic(int peer) const override { return {.in_memory = channels_.bytes_moved(peer)}; }

  int poll() override { return channels_.poll(); }

  void arm() override { sleeper_.arm(); }
  void sleep(TimeNs most) override { sleeper_.sleep(most); }
  void disarm() override { sleeper_.disarm(); }

 private:
  std::shared_ptr<Commons> commons_;
  Window window_;
  Board board_;
  Sleeper sleeper_;
  ChannelTable<LoopbackChannel> channels_;
};

}  // namespace

Result<std::vector<std::unique_ptr<Transport>>> open_loopback(const LoopbackOptions& options) {
  if (Status status = check_geometry(options.ranks, options.slots, options.slot_bytes); !status.ok()) {
    return std::move(status).during("opening the loopback transport");
  }
  try {
    const auto commons = std::make_shared<Commons>(options);
    std::vector<std::unique_ptr<Transport>> transports;
    for (int rank = 0; rank < options.ranks; ++rank) {
      transports.push_back(std::make_unique<LoopbackTransport>(commons, options, rank));
    }
    return transports;
  } catch (const std::bad_alloc&) {
    return Status::failure(hcommOutOfMemory, "no memory for the slots of " + std::to_string(options.ranks) +
                                                 " ranks; lower HCOMM_SLOTS or HCOMM_BUFFSIZE");
  }
}

}  // namespace hcomm
