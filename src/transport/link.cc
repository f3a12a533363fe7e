#include "transport/link.h"

#include <algorithm>
#include <limits>

namespace hcomm {
namespace {

constexpr std::size_t kMostPieces = 32;           // of a write
constexpr std::size_t kSmallestDirect = 4 << 10;  // shorter pieces are not worth a vectored read
constexpr std::size_t kMostIdleBytes = 1 << 10;   // that a link holds on to for its control frames

}  // namespace

Link::Link(LinkOwner& owner, int peer, std::unique_ptr<Stream> stream, End end)
    : owner_(owner), peer_(peer), stream_(std::move(stream)), begun_(end == End::dialled) {
  stream_->set_watcher(*this);
  if (begun_) post({.kind = FrameKind::begin});
}

Link::~Link() = default;

void Link::ready() { owner_.became_ready(*this); }

void Link::post(const Frame& frame, ConstBytes payload) {
  if (control_sent_ == control_.size()) {
    control_.clear();
    control_sent_ = 0;
  }
  const auto header = to_bytes(frame);
  control_.insert(control_.end(), header.begin(), header.end());
  control_.insert(control_.end(), payload.begin(), payload.end());
}

void Link::answer(const Frame& frame, ConstBytes payload) {
  if (control_.size() - control_sent_ < kMostUnread) post(frame, payload);
}

void Link::enqueue(std::uint32_t context, Lane lane, TcpLane& from) {
  const bool queued = std::ranges::any_of(waiting_, [&](const Waiting& each) { return each.from == &from; });
  if (!queued && from.sendable() > 0) waiting_.push_back({context, lane, &from});
}

void Link::forget(const TcpLane& lane) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.from == &lane; });
  if (in_lane_ == &lane) in_lane_ = nullptr;
  if (out_lane_ != &lane) return;
  out_lane_ = nullptr;
  end("a communicator went in the middle of a message");  // its memory is gone, and no other bytes are right
}

void Link::keep_rest(TcpLane& lane) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.from == &lane; });
  if (out_lane_ != &lane) return;
  out_lane_ = nullptr;
  pieces_.clear();
  lane.peek(out_left_, std::numeric_limits<std::size_t>::max(), pieces_);
  rest_.clear();
  for (const ConstBytes piece : pieces_) rest_.insert(rest_.end(), piece.begin(), piece.end());
  HCOMM_ASSERT(rest_.size() == out_left_);
}

bool Link::has_output() const {
  return control_sent_ < control_.size() || out_header_left_ + out_left_ > 0 || !waiting_.empty();
}

std::size_t Link::unsaid(bool until_arrived) const {
  if (gone()) return 0;
  return control_.size() - control_sent_ + out_header_left_ + out_left_ + (until_arrived ? stream_->unsent() : 0);
}

bool Link::end(const std::string& why) {
  if (why_.empty()) why_ = why;
  return false;
}

bool Link::refuse(const std::string& why) {
  misbehaved_ = true;
  return end("it sent " + why);
}

bool Link::turn() {
  unfinished_ = false;
  return !gone() && read_turn() && flush();
}

// ---- out

bool Link::flush() {
  if (gone()) return false;
  if (!begun_) return true;
  std::size_t moved = 0;
  while (has_output()) {
    if (moved >= kMostTurnBytes) {
      unfinished_ = true;
      return true;
    }
    const std::size_t before = moved;
    if (!write_some(moved)) return false;
    if (moved == before) return true;
  }
  return true;
}

// Chooses the lane whose turn it is. False: none has anything to send now.
bool Link::begin_data() {
  while (!waiting_.empty()) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    const std::size_t bytes = next.from->sendable();
    if (bytes == 0) continue;
    out_lane_ = next.from;
    out_left_ = bytes;
    out_header_ = to_bytes(Frame{.kind = FrameKind::data,
                                 .lane = next.lane,
                                 .context = next.context,
                                 .value = next.from->bytes_sent(),
                                 .length = static_cast<std::uint32_t>(bytes)});
    out_header_left_ = kFrameHeaderBytes;
    waiting_.push_back(next);  // perhaps it has more; if not, its next turn drops it
    return true;
  }
  return false;
}

bool Link::write_some(std::size_t& moved) {
  pieces_.clear();
  const bool in_data = out_header_left_ + out_left_ > 0;
  const bool writes_control = !in_data && control_sent_ < control_.size();
  if (writes_control) {
    pieces_.push_back(ConstBytes(control_).subspan(control_sent_));
  } else {
    if (!in_data && !begin_data()) return true;
    if (out_header_left_ > 0) pieces_.push_back(ConstBytes(out_header_).last(out_header_left_));
    if (out_lane_ != nullptr) {
      out_lane_->peek(out_left_, kMostPieces, pieces_);
    } else if (out_left_ > 0) {
      pieces_.push_back(ConstBytes(rest_).last(out_left_));
    }
  }
  const IoResult result = stream_->write(pieces_);
  switch (result.state) {
    case Io::later:
      return true;
    case Io::end:
    case Io::failed:
      return end(stream_->failure());
    case Io::moved:
      break;
  }
  moved += result.bytes;
  if (writes_control) {
    control_sent_ += result.bytes;
    if (control_sent_ < control_.size()) return true;
    control_sent_ = 0;
    control_.clear();
    if (control_.capacity() > kMostIdleBytes) control_ = std::vector<std::byte>();
  } else {
    account_written(result.bytes);
  }
  return true;
}

void Link::account_written(std::size_t bytes) {
  const std::size_t of_header = std::min(bytes, out_header_left_);
  out_header_left_ -= of_header;
  const std::size_t of_payload = bytes - of_header;
  out_left_ -= of_payload;
  if (out_lane_ != nullptr && of_payload > 0) out_lane_->advance(of_payload);
  if (out_left_ > 0) return;
  out_lane_ = nullptr;
  rest_ = std::vector<std::byte>();
}

// ---- in

bool Link::read_turn() {
  std::size_t moved = 0;
  while (moved < kMostTurnBytes) {
    const Bytes direct = direct_target();
    const Bytes shared = owner_.shared_buffer();
    const std::array<Bytes, 2> both = {direct, shared};
    const IoResult result = stream_->read(direct.empty() ? std::span<const Bytes>(both).last(1) : std::span<const Bytes>(both));
    switch (result.state) {
      case Io::later:
        return true;
      case Io::end:
        return end("the other end closed the connection");
      case Io::failed:
        return end(stream_->failure());
      case Io::moved:
        break;
    }
    moved += result.bytes;
    const std::size_t placed = std::min(result.bytes, direct.size());
    if (placed > 0) {
      in_lane_->arrived(placed);
      in_left_ -= placed;
      if (in_left_ == 0) in_lane_ = nullptr;
      owner_.received_some(*this, in_frame_.context);
    }
    if (!parse(shared.first(result.bytes - placed))) return false;
  }
  unfinished_ = true;
  return true;
}

// Memory of a posted receive into which the payload under way can be read at once.
Bytes Link::direct_target() {
  if (in_left_ == 0 || in_lane_ == nullptr) return {};
  const Bytes target = in_lane_->direct_target();
  const Bytes here = target.first(std::min(target.size(), in_left_));
  return here.size() >= kSmallestDirect ? here : Bytes();
}

bool Link::parse(ConstBytes bytes) {
  while (!bytes.empty()) {
    if (in_left_ == 0) {
      const std::size_t here = std::min(bytes.size(), kFrameHeaderBytes - in_header_have_);
      std::ranges::copy(bytes.first(here), in_header_.begin() + static_cast<std::ptrdiff_t>(in_header_have_));
      in_header_have_ += here;
      bytes = bytes.subspan(here);
      if (in_header_have_ == kFrameHeaderBytes && !begin_frame()) return false;
      continue;
    }
    const ConstBytes piece = bytes.first(std::min(bytes.size(), in_left_));
    bytes = bytes.subspan(piece.size());
    in_left_ -= piece.size();
    if (in_lane_ != nullptr) {
      in_lane_->deliver(piece);
      owner_.received_some(*this, in_frame_.context);
    } else if (in_frame_.kind != FrameKind::data) {
      std::ranges::copy(piece, in_control_.begin() + static_cast<std::ptrdiff_t>(in_control_have_));
      in_control_have_ += piece.size();
    }
    if (in_left_ == 0 && !end_payload()) return false;
  }
  return true;
}

bool Link::begin_frame() {
  in_header_have_ = 0;
  in_control_have_ = 0;
  in_lane_ = nullptr;
  const Result<Frame> frame = parse_frame(in_header_);
  if (!frame.ok()) return refuse(std::string(frame.status().trail()));
  in_frame_ = frame.value();
  if (begun_ == (in_frame_.kind == FrameKind::begin)) return refuse("a frame out of turn");
  begun_ = true;
  in_left_ = in_frame_.length;
  if (in_frame_.kind == FrameKind::data) {
    bool broken = false;
    in_lane_ = owner_.lane_for(*this, in_frame_, broken);
    if (broken || (in_lane_ != nullptr && !in_lane_->may_arrive(in_frame_.value, in_frame_.length))) {
      return refuse("data that was not asked for");
    }
  } else if (in_left_ == 0) {
    return end_payload();
  }
  return true;
}

bool Link::end_payload() {
  in_lane_ = nullptr;
  if (in_frame_.kind == FrameKind::data || in_frame_.kind == FrameKind::begin) return true;
  if (owner_.heard(*this, in_frame_, ConstBytes(in_control_).first(in_control_have_))) return true;
  return refuse("a control frame that cannot be");
}

}  // namespace hcomm
