#include "net/greeting.h"

#include <algorithm>
#include <array>

namespace hcomm {

void Greeting::pump() {
  bool moved = true;
  while (moved && !ended_ && !failed_) {
    moved = write_some();
    moved = (!failed_ && read_some()) || moved;
  }
}

bool Greeting::write_some() {
  const ConstBytes bytes = handshake_.outgoing();
  if (bytes.empty()) return false;
  const IoResult result = stream_->write(std::span(&bytes, 1));
  failed_ = result.state == Io::failed;
  if (result.state == Io::moved) handshake_.sent(result.bytes);
  return result.state == Io::moved;
}

bool Greeting::read_some() {
  std::array<std::byte, 128> buffer;
  const std::size_t wanted = std::min(handshake_.wants(), buffer.size());
  if (wanted == 0) return false;
  const Bytes target = Bytes(buffer).first(wanted);
  const IoResult result = stream_->read(std::span(&target, 1));
  ended_ = result.state == Io::end;
  failed_ = result.state == Io::failed;
  if (result.state == Io::moved) handshake_.receive(target.first(result.bytes));
  return result.state == Io::moved;
}

bool Greeting::over() const {
  if (ended_ || failed_) return true;
  return handshake_.state() == Handshake::State::failed && handshake_.outgoing().empty();
}

std::string Greeting::why() const {
  if (handshake_.state() == Handshake::State::failed) return std::string(text(handshake_.refusal()));
  if (failed_) return stream_->failure();
  return handshake_.heard() ? "it closed the connection in the middle of the handshake"
                            : "it closed the connection before the handshake";
}

}  // namespace hcomm
