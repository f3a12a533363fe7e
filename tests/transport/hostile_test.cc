// A peer writes anything into the shared memory at any time. What it gets is a failure, or garbage in the buffers of messages
// that it sent; never an access outside of them (which the sanitizers would see).
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "transport/byte_ring.h"
#include "transport/segment.h"
#include "transport/shm_channel.h"

namespace hcomm {
namespace {

void copy(void* target, const void* source, std::size_t bytes) { std::memcpy(target, source, bytes); }

// Values that tend to hurt, and some near the right one.
std::uint64_t nasty(Random& random, std::uint64_t near) {
  const std::array<std::uint64_t, 6> values = {
      0, UINT64_MAX, near + random.below(300), near - random.below(300), std::uint64_t{1} << random.below(64), random.next()};
  return values[random.below(values.size())];
}

TEST_CASE("a writer never believes in more room than the ring has") {
  Random random(1);
  const std::vector<std::byte> message(256, std::byte{1});
  int broken = 0;
  for (int round = 0; round < 300; ++round) {
    RingControl control;
    std::vector<std::byte> data(256);
    RingWriter writer(control, data.data(), data.size(), copy);
    for (int turn = 0; turn < 40; ++turn) {
      control.read = nasty(random, control.written);
      const auto room = writer.room(1 + random.below(400));
      if (!room.has_value()) {
        ++broken;
        break;
      }
      REQUIRE(*room <= data.size());
      writer.put(ConstBytes(message).first(random.below(*room + 1)));
      writer.publish();
    }
  }
  CHECK(broken > 200);
}

TEST_CASE("a reader never believes in more bytes than the ring has") {
  Random random(2);
  std::vector<std::byte> target(256);
  int broken = 0;
  for (int round = 0; round < 300; ++round) {
    RingControl control;
    std::vector<std::byte> data(256);
    RingReader reader(control, data.data(), data.size());
    for (int turn = 0; turn < 40; ++turn) {
      control.written = nasty(random, control.read);
      if (!reader.refresh()) {
        ++broken;
        break;
      }
      REQUIRE(reader.available() <= data.size());
      reader.take(Bytes(target).first(random.below(reader.available() + 1)));
      reader.publish();
    }
  }
  CHECK(broken > 200);
}

struct Pair {
  static constexpr Geometry kGeometry = {.ranks = 2, .slots = 1, .slot_bytes = 64, .ring_bytes = 256};

  Pair() {
    const int fd = create_segment(shm_segment_bytes(2, 1, 64, 256, 1)).value();
    context = Context::map(fd, 0, kGeometry).value();
    close(fd);
    window = context.window(0);
  }
  ShmChannel channel() { return {context, window, 1, Lane::collective, copy}; }
  RingControl& incoming() { return context.ring_control(1, 0, 0); }
  RingControl& outgoing() { return context.ring_control(0, 1, 0); }
  std::byte* incoming_data() { return context.ring_data(1, 0, 0); }

  // What the peer would write for a message of `length` bytes.
  void forge(std::uint64_t length, std::uint32_t sequence) {
    const FrameHeader header = {length, 0, sequence, frame_check(length, 0, sequence, 1, 0, Lane::collective)};
    std::memcpy(incoming_data(), &header, sizeof header);
  }

  Context context;
  Window window;
};

TEST_CASE("impossible cursors fail the messages and all that come after") {
  Pair pair;
  ShmChannel channel = pair.channel();
  const std::vector<std::byte> data(1000);
  std::vector<std::byte> target(1000);
  const ConstBytes source_part(data);
  const Bytes target_part(target);
  std::array<Completion, 4> done;
  channel.send({&source_part, 1}, 0, done[0]);
  channel.recv({&target_part, 1}, 0, done[1]);
  CHECK_FALSE(done[0].finished);
  pair.outgoing().read = 5000;
  pair.incoming().written = 257;
  channel.poll();
  channel.send({&source_part, 1}, 0, done[2]);
  channel.recv({&target_part, 1}, 0, done[3]);
  for (const Completion& each : done) {
    CHECK(each.finished);
    CHECK(each.status.code() == hcommRemoteError);
  }
  CHECK(done[0].status.trail().find("rank 1 wrote an impossible read cursor") != std::string_view::npos);
  CHECK(done[1].status.trail().find("rank 1 wrote an impossible write cursor") != std::string_view::npos);
}

TEST_CASE("a forged length is the length of the receive, or refused") {
  constexpr std::array<std::uint64_t, 5> kLengths = {0, 99, 101, UINT64_MAX, std::uint64_t{1} << 63};
  for (const std::uint64_t length : kLengths) {
    Pair pair;
    ShmChannel channel = pair.channel();
    pair.forge(length, 0);
    pair.incoming().written = 256;
    std::vector<std::byte> target(100);
    const Bytes part(target);
    Completion done;
    channel.recv({&part, 1}, 0, done);
    REQUIRE(done.finished);
    CHECK(done.status.code() == hcommMismatch);
  }
  Pair pair;
  ShmChannel channel = pair.channel();
  pair.forge(100, 1);  // not the message whose turn it is
  pair.incoming().written = 256;
  std::vector<std::byte> target(100);
  const Bytes part(target);
  Completion done;
  channel.recv({&part, 1}, 0, done);
  REQUIRE(done.finished);
  CHECK(done.status.code() == hcommRemoteError);
  CHECK(done.status.trail().find("damaged") != std::string_view::npos);
}

TEST_CASE("a peer that scribbles over everything does no harm beyond its own messages") {
  Random random(3);
  int failed = 0;
  for (int round = 0; round < 200; ++round) {
    Pair pair;
    ShmChannel channel = pair.channel();
    std::array<std::vector<std::byte>, 8> buffers;
    std::array<Completion, 8> done;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      buffers[i].resize(random.below(600));
      const Bytes target(buffers[i]);
      const ConstBytes source(buffers[i]);
      if (i % 2 == 0) channel.recv({&target, 1}, 0, done[i]);
      if (i % 2 != 0) channel.send({&source, 1}, 0, done[i]);
      if (i == 0 && random.below(2) == 0) pair.forge(buffers[0].size(), 0);
      pair.incoming().written = nasty(random, pair.incoming().read);
      pair.outgoing().read = nasty(random, pair.outgoing().written);
      pair.incoming_data()[random.below(256)] = static_cast<std::byte>(random.next());
      pair.context.window(0).doorbells[1].sleeping = static_cast<std::uint32_t>(random.next());
      channel.poll();
    }
    const auto has_failed = [](const Completion& each) { return each.finished && !each.status.ok(); };
    failed += static_cast<int>(std::ranges::count_if(done, has_failed));
  }
  CHECK(failed > 200);
}

}  // namespace
}  // namespace hcomm
