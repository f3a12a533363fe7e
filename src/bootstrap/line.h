// A way for whole messages to one other end of a meeting: a Unix packet socket, or frames on an authenticated TCP stream.
// Nothing blocks. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "bootstrap/socket.h"
#include "net/kernel_network.h"
#include "net/network.h"

namespace hcomm {

class Line {
 public:
  virtual ~Line() = default;

  // The next message, in `scratch` or in the line's own memory until the next call.
  virtual Packet receive(Bytes scratch) = 0;
  virtual Sent send(ConstBytes message, std::span<const int> descriptors = {}) = 0;
  // Something may have come, or gone out, since receive() last said that there was nothing.
  virtual bool restless() const = 0;
  // All that was sent has left this process.
  virtual bool drained() const = 0;
  // In the child of a fork: lets go of what the parent still uses. Nothing else is called afterwards.
  virtual void close_in_child() = 0;
};

class UnixLine final : public Line, private Watcher {
 public:
  static Result<std::unique_ptr<UnixLine>> over(KernelNetwork& network, Descriptor socket);

  Packet receive(Bytes scratch) override;
  Sent send(ConstBytes message, std::span<const int> descriptors) override;
  bool restless() const override { return restless_; }
  bool drained() const override { return true; }
  void close_in_child() override { socket_.reset(); }

 private:
  explicit UnixLine(Descriptor socket) : socket_(std::move(socket)) {}
  void ready() override { restless_ = true; }

  Descriptor socket_;
  std::unique_ptr<Watch> watch_;  // ends before the socket
  bool restless_ = true;
};

// Each message is four bytes of its length, little-endian, and itself.
class FrameLine final : public Line, private Watcher {
 public:
  // The stream's handshake is over. A message longer than `most` is the end of the line, before anything is made for it.
  FrameLine(std::unique_ptr<Stream> stream, std::size_t most);

  Packet receive(Bytes scratch) override;
  Sent send(ConstBytes message, std::span<const int> descriptors = {}) override;
  bool restless() const override { return restless_; }
  bool drained() const override { return outgoing_.empty(); }
  void close_in_child() override {}  // the network's own affair

  std::size_t sent_bytes() const { return sent_bytes_; }

 private:
  static constexpr std::size_t kHeaderBytes = 4;
  static constexpr std::size_t kMaxQueued = 64 * 1024;  // before `later`

  void ready() override { restless_ = true; }
  void flush();
  Received fill(std::size_t bytes);  // until the message has so many

  const std::unique_ptr<Stream> stream_;
  const std::size_t most_;
  std::vector<std::byte> incoming_;  // the message under way, with its length
  std::size_t filled_ = 0;
  std::vector<std::byte> outgoing_;
  std::size_t sent_bytes_ = 0;
  bool restless_ = true;
  bool ended_ = false;  // nothing more will come
  bool mute_ = false;   // nothing more can be sent; something may still come
};

}  // namespace hcomm
