#include "bootstrap/line.h"

#include <algorithm>
#include <array>

#include "bootstrap/wire.h"

namespace hcomm {

Result<std::unique_ptr<UnixLine>> UnixLine::over(KernelNetwork& network, Descriptor socket) {
  std::unique_ptr<UnixLine> line(new UnixLine(std::move(socket)));
  Result<std::unique_ptr<Watch>> watch = network.watch(line->socket_.get(), *line);
  if (!watch.ok()) return std::move(watch).status();
  line->watch_ = std::move(watch).value();
  return line;
}

Packet UnixLine::receive(Bytes scratch) {
  Packet packet = receive_packet(socket_, scratch);
  restless_ = packet.state == Received::packet;
  return packet;
}

Sent UnixLine::send(ConstBytes message, std::span<const int> descriptors) { return send_packet(socket_, message, descriptors); }

FrameLine::FrameLine(std::unique_ptr<Stream> stream, std::size_t most) : stream_(std::move(stream)), most_(most) {
  stream_->set_watcher(*this);
}

void FrameLine::flush() {
  while (!outgoing_.empty()) {
    const ConstBytes part = outgoing_;
    const IoResult result = stream_->write({&part, 1});
    if (result.state == Io::later) return;
    if (result.state != Io::moved) {
      mute_ = true;
      outgoing_.clear();
      return;
    }
    sent_bytes_ += result.bytes;
    outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(result.bytes));
  }
}

Received FrameLine::fill(std::size_t bytes) {
  if (incoming_.size() < bytes) incoming_.resize(bytes);
  while (filled_ < bytes) {
    const Bytes part = Bytes(incoming_).subspan(filled_, bytes - filled_);
    const IoResult result = stream_->read({&part, 1});
    if (result.state == Io::later) return Received::nothing;
    if (result.state != Io::moved) return Received::end;
    filled_ += result.bytes;
  }
  return Received::packet;
}

Packet FrameLine::receive(Bytes) {
  Packet packet;
  flush();
  packet.state = ended_ ? Received::end : fill(kHeaderBytes);
  if (packet.state == Received::packet) {
    const std::size_t length = Reader(incoming_).number<std::uint32_t>();
    packet.state = length > most_ ? Received::end : fill(kHeaderBytes + length);
    if (packet.state == Received::packet) {
      packet.bytes = ConstBytes(incoming_).subspan(kHeaderBytes, length);
      filled_ = 0;
    }
  }
  ended_ = packet.state == Received::end;
  restless_ = packet.state == Received::packet;
  return packet;
}

Sent FrameLine::send(ConstBytes message, std::span<const int> descriptors) {
  HCOMM_ASSERT(descriptors.empty());
  if (mute_) return Sent::never;
  if (outgoing_.size() > kMaxQueued) return Sent::later;
  Writer header;
  header.number(static_cast<std::uint32_t>(message.size()));
  const std::vector<std::byte> length = std::move(header).take();
  outgoing_.insert(outgoing_.end(), length.begin(), length.end());
  outgoing_.insert(outgoing_.end(), message.begin(), message.end());
  flush();
  return mute_ ? Sent::never : Sent::yes;
}

}  // namespace hcomm
