// A handshake under way on a stream: moves the bytes of one to the other. What Acceptor and Dialer have in common.
#pragma once

#include <memory>
#include <string>

#include "net/handshake.h"
#include "net/network.h"

namespace hcomm {

class Greeting {
 public:
  Greeting(std::unique_ptr<Stream> stream, const Handshake& handshake) : stream_(std::move(stream)), handshake_(handshake) {}

  // Moves what can be moved now; at most the few hundred bytes of a handshake. What has come to an end or failed stays so.
  void pump();

  Handshake& handshake() { return handshake_; }
  const Handshake& handshake() const { return handshake_; }
  Stream& stream() { return *stream_; }
  const Stream& stream() const { return *stream_; }

  bool done() const { return handshake_.state() == Handshake::State::done; }
  // Nothing more will come of it: the connection is gone, or one end has refused and that has been sent.
  bool over() const;
  std::string why() const;  // of what is over: a text
  std::unique_ptr<Stream> take() { return std::move(stream_); }

 private:
  bool write_some();
  bool read_some();

  std::unique_ptr<Stream> stream_;
  Handshake handshake_;
  bool ended_ = false;   // by the other end, in good order
  bool failed_ = false;  // the connection
};

}  // namespace hcomm
