#include "transport/tcp_lane.h"

#include <utility>

namespace hcomm {

void TcpLane::post_send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion) {
  if (sending_ != nullptr) return owner_.finish(completion, sending_->status());
  Outgoing& message = sends_.push();
  message.parts.assign(parts.begin(), parts.end());
  message.cursor = ConstCursor(message.parts);
  message.header = to_bytes(MessageHeader{message.cursor.left(), mark});
  message.header_sent = 0;
  message.completion = &completion;
}

void TcpLane::post_recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion) {
  if (receiving_ != nullptr) return owner_.finish(completion, receiving_->status());
  Incoming& message = receives_.push();
  message.parts.assign(parts.begin(), parts.end());
  message.cursor = Cursor(message.parts);
  message.header_have = 0;
  message.mark = mark;
  message.completion = &completion;
  wanted_ += kMessageHeaderBytes + message.cursor.left();
  if (backlog_.empty()) return;
  const std::size_t used = consume(backlog_);
  backlog_.erase(backlog_.begin(), backlog_.begin() + static_cast<std::ptrdiff_t>(std::min(used, backlog_.size())));
  if (backlog_.empty()) backlog_ = std::vector<std::byte>();  // an idle channel holds nothing
}

std::size_t TcpLane::sendable() {
  if (sends_.empty() || sent_ >= grant_) return 0;
  const Outgoing& message = sends_.front();
  const std::size_t left = kMessageHeaderBytes - message.header_sent + message.cursor.left();
  return static_cast<std::size_t>(std::min<std::uint64_t>({left, grant_ - sent_, kMostDataBytes}));
}

void TcpLane::peek(std::size_t bytes, std::size_t most_pieces, std::vector<ConstBytes>& pieces) {
  const Outgoing& message = sends_.front();
  const auto add = [&](ConstBytes piece) {
    piece = piece.first(std::min(piece.size(), bytes));
    if (piece.empty()) return;
    pieces.push_back(piece);
    bytes -= piece.size();
  };
  add(ConstBytes(message.header).subspan(message.header_sent));
  ConstCursor cursor = message.cursor;
  while (bytes > 0 && cursor.left() > 0 && pieces.size() < most_pieces) {
    const ConstBytes here = cursor.here();
    add(here);
    cursor.advance(here.size());
  }
}

void TcpLane::advance(std::size_t bytes) {
  Outgoing& message = sends_.front();
  sent_ += bytes;
  const std::size_t of_header = std::min(bytes, kMessageHeaderBytes - message.header_sent);
  message.header_sent += of_header;
  bytes -= of_header;
  while (bytes > 0) {
    const std::size_t here = std::min(bytes, message.cursor.here().size());
    message.cursor.advance(here);
    bytes -= here;
  }
  if (message.header_sent < kMessageHeaderBytes || message.cursor.left() > 0) return;
  owner_.finish(*message.completion, {});
  sends_.pop();
}

bool TcpLane::may_arrive(std::uint64_t offset, std::size_t bytes) const {
  return offset == received_ && bytes <= told_ - received_;
}

Bytes TcpLane::direct_target() {
  if (receiving_ != nullptr || receives_.empty() || !backlog_.empty()) return {};
  Incoming& message = receives_.front();
  return message.header_have == kMessageHeaderBytes ? message.cursor.here() : Bytes();
}

void TcpLane::arrived(std::size_t bytes) {
  Incoming& message = receives_.front();
  received_ += bytes;
  consumed_ += bytes;
  message.cursor.advance(bytes);
  if (message.cursor.left() == 0) finish_receive();
}

void TcpLane::deliver(ConstBytes bytes) {
  received_ += bytes.size();
  if (receiving_ != nullptr) return;
  if (backlog_.empty()) bytes = bytes.subspan(consume(bytes));
  if (receiving_ == nullptr) backlog_.insert(backlog_.end(), bytes.begin(), bytes.end());
}

// Gives bytes of the stream to the receives that are posted; returns how many were taken.
std::size_t TcpLane::consume(ConstBytes bytes) {
  const std::size_t all = bytes.size();
  while (!receives_.empty()) {
    Incoming& message = receives_.front();
    if (message.header_have < kMessageHeaderBytes && !take_header(bytes, message)) break;
    const std::size_t here = std::min(bytes.size(), message.cursor.here().size());
    if (here == 0 && message.cursor.left() > 0) break;
    if (here > 0) std::memcpy(message.cursor.here().data(), bytes.data(), here);
    message.cursor.advance(here);
    bytes = bytes.subspan(here);
    if (message.cursor.left() == 0) finish_receive();
  }
  const std::size_t used = receiving_ != nullptr ? all : all - bytes.size();
  consumed_ += used;
  return used;
}

// False: it is not whole yet, or does not fit, and then receiving has ended.
bool TcpLane::take_header(ConstBytes& bytes, Incoming& message) {
  const std::size_t here = std::min(bytes.size(), kMessageHeaderBytes - message.header_have);
  std::ranges::copy(bytes.first(here), message.header.begin() + static_cast<std::ptrdiff_t>(message.header_have));
  message.header_have += here;
  bytes = bytes.subspan(here);
  if (message.header_have < kMessageHeaderBytes) return false;
  const MessageHeader header = parse_message_header(message.header);
  if (header.mark != message.mark) {
    break_receiving(hcommMismatch, wrong_mark(peer_));
    return false;
  }
  if (header.length != message.cursor.left()) {
    break_receiving(hcommMismatch, wrong_length(peer_, header.length, message.cursor.left()));
    return false;
  }
  return true;
}

void TcpLane::finish_receive() {
  owner_.finish(*receives_.front().completion, {});
  receives_.pop();
}

std::uint64_t TcpLane::grant_to_tell() {
  const std::uint64_t grant = wanted_ + kWindowBytes;
  if (receiving_ != nullptr || grant - told_ < kWindowBytes / 2) return 0;
  return told_ = grant;
}

void TcpLane::break_receiving(hcommResult_t code, const std::string& why) {
  if (receiving_ != nullptr) return;
  receiving_ = std::make_unique<const Breakage>(Breakage{code, why});
  for (; !receives_.empty(); receives_.pop()) owner_.finish(*receives_.front().completion, receiving_->status());
  backlog_ = std::vector<std::byte>();
}

void TcpLane::fail(hcommResult_t code, const std::string& why) {
  break_receiving(code, why);
  if (sending_ != nullptr) return;
  sending_ = std::make_unique<const Breakage>(Breakage{code, why});
  for (; !sends_.empty(); sends_.pop()) owner_.finish(*sends_.front().completion, sending_->status());
}

}  // namespace hcomm
