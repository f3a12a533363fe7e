#include "transport/shm_channel.h"

#include <algorithm>

namespace hcomm {
namespace {

constexpr std::size_t padding_after(std::size_t payload_bytes) {
  const std::size_t frame = (sizeof(FrameHeader) + payload_bytes % kFrameUnit) % kFrameUnit;
  return (kFrameUnit - frame) % kFrameUnit;
}

std::string impossible_cursor(int peer, std::string_view which) {
  return "rank " + std::to_string(peer) + " wrote an impossible " + std::string(which) + " cursor into shared memory";
}

}  // namespace

std::uint32_t frame_check(std::uint64_t length, std::uint64_t mark, std::uint32_t sequence, int from, int to, Lane lane) {
  std::uint64_t mixed = (length * 0x9e3779b97f4a7c15u ^ mark) * 0x9e3779b97f4a7c15u + sequence;
  mixed ^= static_cast<std::uint64_t>(from) << 40 ^ static_cast<std::uint64_t>(to) << 20 ^ static_cast<std::uint64_t>(lane);
  mixed *= 0xd6e8feb86659fd93u;
  mixed ^= mixed >> 32;
  return static_cast<std::uint32_t>(mixed * 0xd6e8feb86659fd93u >> 32);
}

ShmChannel::ShmChannel(const Context& context, Window& window, int peer, Lane lane, CopyOut copy_out)
    : window_(window),
      peer_(peer),
      lane_(lane),
      writer_(context.ring_control(window.self, peer, static_cast<int>(lane)),
              context.ring_data(window.self, peer, static_cast<int>(lane)), context.geometry().ring_bytes, copy_out),
      reader_(context.ring_control(peer, window.self, static_cast<int>(lane)),
              context.ring_data(peer, window.self, static_cast<int>(lane)), context.geometry().ring_bytes) {}

template <class Part>
void ShmChannel::post(Fifo<Posted<Part>>& queue, std::span<const Part> parts, std::uint64_t mark, Completion& completion) {
  Posted<Part>& message = queue.push();
  message.parts.assign(parts.begin(), parts.end());
  message.cursor = PartCursor<Part>(message.parts);
  message.completion = &completion;
  message.mark = mark;
  message.pad = padding_after(message.cursor.left());
  message.begun = false;
}

template <class Part>
void ShmChannel::finish(Fifo<Posted<Part>>& queue) {
  queue.front().completion->finished = true;
  queue.pop();
}

template <class Part>
int ShmChannel::fail_all(Fifo<Posted<Part>>& queue, const Breakage& breakage) {
  int failed = 0;
  for (; !queue.empty(); ++failed) {
    queue.front().completion->status = Status::failure(breakage.code, breakage.what);
    finish(queue);
  }
  return failed;
}

void ShmChannel::send(std::span<const ConstBytes> parts, std::uint64_t mark, Completion& completion) {
  post(sends_, parts, mark, completion);
  if (sends_.size() == 1) push_messages();
}

void ShmChannel::recv(std::span<const Bytes> parts, std::uint64_t mark, Completion& completion) {
  post(receives_, parts, mark, completion);
  if (receives_.size() == 1) pull_messages();
}

int ShmChannel::poll() {
  int work = 0;
  if (!sends_.empty()) work += push_messages();
  if (!receives_.empty()) work += pull_messages();
  return work;
}

int ShmChannel::push_messages() {
  int pieces = 0;
  while (!sends_.empty() && pieces < kMostPieces) {
    if (send_breakage_.is_set()) return pieces + fail_all(sends_, send_breakage_);
    Outgoing& message = sends_.front();
    const std::size_t header_bytes = message.begun ? 0 : sizeof(FrameHeader);
    const auto room = writer_.room(std::min(kPieceBytes, header_bytes + message.cursor.left() + message.pad));
    if (!room.has_value()) {
      send_breakage_ = {hcommRemoteError, impossible_cursor(peer_, "read")};
      continue;
    }
    if (!push_piece(message, *room)) return pieces;
    ++pieces;
  }
  return pieces;
}

// Header, payload and padding as far as they fit; false if nothing does.
bool ShmChannel::push_piece(Outgoing& message, std::size_t room) {
  room = std::min(room, kPieceBytes);
  bool moved = false;
  if (!message.begun) {
    if (room < sizeof(FrameHeader)) return false;
    const std::uint64_t length = message.cursor.left();
    const FrameHeader header = {length, message.mark, send_sequence_,
                                frame_check(length, message.mark, send_sequence_, window_.self, peer_, lane_)};
    writer_.put(std::as_bytes(std::span(&header, 1)));
    room -= sizeof header;
    ++send_sequence_;
    message.begun = moved = true;
  }
  while (room > 0 && message.cursor.left() > 0) {
    const ConstBytes here = message.cursor.here();
    const std::size_t bytes = std::min(room, here.size());
    writer_.put(here.first(bytes));
    message.cursor.advance(bytes);
    room -= bytes;
    moved = true;
  }
  if (message.cursor.left() == 0 && message.pad > 0 && room > 0) {
    const std::size_t bytes = std::min(room, message.pad);
    writer_.skip(bytes);
    message.pad -= bytes;
    moved = true;
  }
  if (moved) {
    writer_.publish();
    ring(window_, peer_);
  }
  if (message.cursor.left() == 0 && message.pad == 0) {
    finish(sends_);
    return true;
  }
  return moved;
}

int ShmChannel::pull_messages() {
  int pieces = 0;
  while (!receives_.empty() && pieces < kMostPieces) {
    if (recv_breakage_.is_set()) return pieces + fail_all(receives_, recv_breakage_);
    if (!reader_.refresh()) {
      recv_breakage_ = {hcommRemoteError, impossible_cursor(peer_, "write")};
    } else if (!pull_piece(receives_.front())) {
      return pieces;
    }
    ++pieces;
  }
  return pieces;
}

// False: nothing of it has come.
bool ShmChannel::pull_piece(Incoming& message) {
  const std::size_t available_before = reader_.available();
  discard_padding();
  if (!message.begun) begin_receive(message);
  if (recv_breakage_.is_set()) return true;
  std::size_t usable = message.begun ? std::min(reader_.available(), kPieceBytes) : 0;
  while (usable > 0 && message.cursor.left() > 0) {
    const Bytes here = message.cursor.here();
    const std::size_t bytes = std::min(usable, here.size());
    reader_.take(here.first(bytes));
    message.cursor.advance(bytes);
    usable -= bytes;
  }
  const bool complete = message.begun && message.cursor.left() == 0;
  if (complete) {
    padding_ = message.pad;
    discard_padding();
    finish(receives_);
  }
  if (reader_.available() == available_before) return complete;
  reader_.publish();
  ring(window_, peer_);
  return true;
}

void ShmChannel::discard_padding() {
  const std::size_t bytes = std::min(reader_.available(), padding_);
  reader_.skip(bytes);
  padding_ -= bytes;
}

// Takes and checks the header, if it is there; the channel may break on it.
void ShmChannel::begin_receive(Incoming& message) {
  if (reader_.available() < sizeof(FrameHeader)) return;
  FrameHeader header;  // our copy: the peer cannot change it between check and use
  reader_.take(std::as_writable_bytes(std::span(&header, 1)));
  const std::uint32_t expected = frame_check(header.length, header.mark, recv_sequence_, peer_, window_.self, lane_);
  if (header.sequence != recv_sequence_ || header.check != expected) {
    recv_breakage_ = {hcommRemoteError, "the frame of message " + std::to_string(recv_sequence_) + " from rank " +
                                            std::to_string(peer_) + " is damaged"};
  } else if (header.mark != message.mark) {
    recv_breakage_ = {hcommMismatch, wrong_mark(peer_)};
  } else if (header.length != message.cursor.left()) {
    recv_breakage_ = {hcommMismatch, wrong_length(peer_, header.length, message.cursor.left())};
  } else {
    ++recv_sequence_;
    message.begun = true;
  }
}

}  // namespace hcomm
