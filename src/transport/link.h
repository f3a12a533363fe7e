// One proved connection to one peer: cuts the stream into frames and makes it of frames. Lanes of all communicators take turns;
// control frames go before data.
//
//   Threads: whoever holds the hub's mutex.
//   Bounds:  a turn moves at most kMostTurnBytes each way, so that one peer cannot hold up the others; unfinished() says that
//            more could be moved. Nothing that arrives sizes an allocation.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/network.h"
#include "transport/frames.h"
#include "transport/tcp_lane.h"

namespace hcomm {

class Link;

// What a link asks of the hub.
class LinkOwner {
 public:
  virtual ~LinkOwner() = default;
  // Where data of this context and lane goes; null: nowhere, it is thrown away. `broken` is set if no such frame may come.
  virtual TcpLane* lane_for(Link& link, const Frame& frame, bool& broken) = 0;
  // A frame of another kind. False: it cannot be, and the link ends.
  virtual bool heard(Link& link, const Frame& frame, ConstBytes payload) = 0;
  virtual void received_some(Link& link, std::uint32_t context) = 0;
  virtual void became_ready(Link& link) = 0;
  // Of all links together, for the length of a turn.
  virtual Bytes shared_buffer() = 0;
};

class Link final : public Watcher {
 public:
  static constexpr std::size_t kMostTurnBytes = 1 << 20;

  enum class End : std::uint8_t { dialled, accepted };
  Link(LinkOwner& owner, int peer, std::unique_ptr<Stream> stream, End end);
  ~Link() override;

  int peer() const { return peer_; }

  // Who dialled may give up before it learns that it was let in; then there has never been a link. So the end that accepted says
  // nothing before the other has begun.
  bool has_begun() const { return begun_; }

  void post(const Frame& frame, ConstBytes payload = {});
  // What the peer has asked for; not said while it leaves so much unread.
  static constexpr std::size_t kMostUnread = 64 << 10;
  void answer(const Frame& frame, ConstBytes payload = {});
  // The lane may have something to send. It outlives the link, or is forgotten before it dies.
  void enqueue(std::uint32_t context, Lane lane, TcpLane& from);
  void forget(const TcpLane& lane);
  // Before its memory is given back: nothing more of the lane is sent but the rest of the frame that was begun, as it is now.
  void keep_rest(TcpLane& lane);

  // Moves what can be moved, or only what is to be written. False when the connection is gone; why() says why.
  [[nodiscard]] bool turn();
  [[nodiscard]] bool flush();
  bool unfinished() const { return unfinished_; }
  // Bytes of control frames, and of the rest of a begun one, that are still here or, with `until_arrived`, still on their way.
  std::size_t unsaid(bool until_arrived) const;
  bool gone() const { return !why_.empty(); }
  const std::string& why() const { return why_; }
  bool misbehaved() const { return misbehaved_; }  // the peer did what it must not, and that is why

  void ready() override;

 private:
  struct Waiting {
    std::uint32_t context;
    Lane lane;
    TcpLane* from;
  };

  bool begin_data();
  bool write_some(std::size_t& moved);
  void account_written(std::size_t bytes);
  bool read_turn();
  bool has_output() const;
  bool parse(ConstBytes bytes);
  bool begin_frame();
  bool end_payload();
  Bytes direct_target();
  bool end(const std::string& why);
  bool refuse(const std::string& why);

  LinkOwner& owner_;
  const int peer_;
  std::unique_ptr<Stream> stream_;
  bool begun_;
  bool unfinished_ = false;
  std::string why_;
  bool misbehaved_ = false;

  // Out: control frames wait in control_; of a data frame first its header, then bytes of the lane.
  std::vector<std::byte> control_;
  std::size_t control_sent_ = 0;
  std::deque<Waiting> waiting_;
  std::array<std::byte, kFrameHeaderBytes> out_header_{};
  std::size_t out_header_left_ = 0;
  std::size_t out_left_ = 0;    // of the frame's payload
  TcpLane* out_lane_ = nullptr;  // null while out_left_ > 0: the lane was withdrawn ...
  std::vector<std::byte> rest_;  // ... and these are its bytes; the last out_left_ of them are still to be written
  std::vector<ConstBytes> pieces_;

  // In.
  std::array<std::byte, kFrameHeaderBytes> in_header_{};
  std::size_t in_header_have_ = 0;
  Frame in_frame_;
  std::size_t in_left_ = 0;     // of the frame's payload
  TcpLane* in_lane_ = nullptr;  // null: thrown away, or a control frame
  std::array<std::byte, kMostControlBytes> in_control_{};
  std::size_t in_control_have_ = 0;
};

}  // namespace hcomm
