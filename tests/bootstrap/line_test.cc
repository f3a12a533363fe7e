// Goal: messages pass whole or not at all, whatever pieces they come in. Method: a raw stream at one end, a line at the other.
#include "bootstrap/line.h"

#include <catch2/catch.hpp>

#include "net/kernel_network.h"
#include "rig.h"

namespace hcomm {
namespace {

class Nobody final : public Watcher {
 public:
  void ready() override {}
};

// Two ends of one connection.
struct Ends {
  std::unique_ptr<KernelNetwork> network = KernelNetwork::open().value();
  Nobody nobody;
  std::unique_ptr<Listener> listener = network->listen(loopback(), nobody).value();
  std::unique_ptr<Stream> near_end = network->connect(listener->address(), nobody).value();
  std::unique_ptr<Stream> far_end;

  Ends() {
    REQUIRE(eventually([&] {
      turn();
      if (far_end == nullptr) far_end = listener->accept(nobody);
      return far_end != nullptr && near_end->connected();
    }));
  }

  void turn() {
    network->wait(kMillisecond);
    network->dispatch();
  }

  // All of it, in pieces of this size.
  void write(const std::vector<std::byte>& bytes, std::size_t piece) {
    std::size_t done = 0;
    REQUIRE(eventually([&] {
      const ConstBytes part = ConstBytes(bytes).subspan(done, std::min(piece, bytes.size() - done));
      done += near_end->write({&part, 1}).bytes;
      return done == bytes.size();
    }));
  }

  Packet next(FrameLine& line) {
    Packet packet;
    REQUIRE(eventually([&] {
      turn();
      packet = line.receive({});
      return packet.state != Received::nothing;
    }));
    return packet;
  }
};

std::vector<std::byte> frame(std::uint32_t length, std::size_t bytes) {
  std::vector<std::byte> wire;
  for (int shift = 0; shift < 32; shift += 8) wire.push_back(static_cast<std::byte>(length >> shift));
  for (std::size_t i = 0; i < bytes; ++i) wire.push_back(static_cast<std::byte>(i));
  return wire;
}

TEST_CASE("frames arrive whole, in whatever pieces they come") {
  for (const std::size_t piece : {1ul, 3ul, 4ul, 5ul, 100ul}) {
    Ends ends;
    FrameLine line(std::move(ends.far_end), 64);
    std::vector<std::byte> wire = frame(64, 64);
    for (const std::uint32_t length : {0u, 1u, 9u}) {
      const std::vector<std::byte> more = frame(length, length);
      wire.insert(wire.end(), more.begin(), more.end());
    }
    ends.write(wire, piece);
    for (const std::size_t length : {64u, 0u, 1u, 9u}) {
      const Packet packet = ends.next(line);
      REQUIRE(packet.state == Received::packet);
      CHECK(packet.bytes.size() == length);
      if (length > 0) CHECK(packet.bytes.back() == static_cast<std::byte>(length - 1));
    }
  }
}

TEST_CASE("a length above the bound is the end, before its bytes come") {
  for (const std::uint32_t length : {65u, 0x10000u, 0x7fffffffu, 0xffffffffu}) {
    Ends ends;
    FrameLine line(std::move(ends.far_end), 64);
    ends.write(frame(length, 0), 4);
    CHECK(ends.next(line).state == Received::end);
    CHECK(line.receive({}).state == Received::end);
  }
}

TEST_CASE("a frame that is cut is the end") {
  Ends ends;
  FrameLine line(std::move(ends.far_end), 64);
  ends.write(frame(20, 19), 100);
  ends.near_end.reset();
  CHECK(ends.next(line).state == Received::end);
}

TEST_CASE("what the other end does not read yet is kept, and then refused for a while") {
  Ends ends;
  FrameLine sender(std::move(ends.near_end), 64);
  const std::vector<std::byte> message(100'000, std::byte{7});
  int sent = 0;
  while (sender.send(message) == Sent::yes) ++sent;
  CHECK_FALSE(sender.drained());
  FrameLine reader(std::move(ends.far_end), message.size());
  for (int i = 0; i < sent; ++i) {
    REQUIRE(eventually([&] {
      ends.turn();
      sender.receive({});
      const Packet packet = reader.receive({});
      return packet.state == Received::packet && packet.bytes.size() == message.size();
    }));
  }
  CHECK(sender.drained());
  CHECK(sender.sent_bytes() == static_cast<std::size_t>(sent) * (message.size() + 4));
}

}  // namespace
}  // namespace hcomm
