// The kernel's network over the loopback interface, which every machine has.
#include "net/kernel_network.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <linux/filter.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "base/child.h"
#include "net/kernel_stream.h"
#include "net/mac.h"
#include "net/rig.h"
#include "net/sockets.h"
#include "net/watch_table.h"

namespace hcomm {
namespace {

// Two ends of one connection.
struct Ends {
  std::unique_ptr<KernelNetwork> network;
  CountingWatcher listener_watcher;
  CountingWatcher near_watcher;
  CountingWatcher far_watcher;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Stream> near;
  std::unique_ptr<Stream> far;

  explicit Ends(Family family = Family::inet, TimeNs silence = kSilenceBeforeLost) {
    network = KernelNetwork::open(silence).value();
    listener = network->listen(loopback_address(family), listener_watcher).value();
    near = network->connect(listener->address(), near_watcher).value();
    REQUIRE(turn_until(*network, [this] {
      if (far == nullptr) far = listener->accept(far_watcher);
      return far != nullptr && near->connected();
    }));
  }
};

IoResult write_to(Stream& stream, ConstBytes bytes) { return stream.write(std::span(&bytes, 1)); }

IoResult read_from(Stream& stream, Bytes bytes) { return stream.read(std::span(&bytes, 1)); }

std::size_t fill(Stream& stream) {
  const std::vector<std::byte> bytes(1 << 16);
  std::size_t total = 0;
  for (;;) {
    const IoResult result = write_to(stream, bytes);
    if (result.state != Io::moved) return total;
    total += result.bytes;
  }
}

std::size_t drain(Stream& stream) {
  std::vector<std::byte> bytes(1 << 16);
  std::size_t total = 0;
  for (;;) {
    const IoResult result = read_from(stream, bytes);
    if (result.state != Io::moved) return total;
    total += result.bytes;
  }
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int number = 0; number < 1024; ++number) count += fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("bytes arrive over IPv4 and IPv6, in several parts at once") {
  for (const Family family : {Family::inet, Family::inet6}) {
    Ends ends(family);
    const std::string text = "one two three";
    const std::array<ConstBytes, 4> parts = {as_bytes(text).first(3), ConstBytes(), as_bytes(text).subspan(3, 1),
                                             as_bytes(text).subspan(4)};
    CHECK(ends.near->write(parts).bytes == text.size());
    std::string got(text.size(), '?');
    const Bytes target = std::as_writable_bytes(std::span(got));
    REQUIRE(turn_until(*ends.network, [&] {
      const std::array<Bytes, 3> targets = {target.first(1), Bytes(), target.subspan(1)};
      return ends.far->read(targets).state == Io::moved;
    }));
    CHECK(got == text);
    CHECK(ends.near->peer() == ends.listener->address());
    CHECK(ends.far->peer().family == family);
  }
}

TEST_CASE("more parts than the system takes at once go in several turns") {
  Ends ends;
  const std::vector<std::byte> bytes(Stream::kMostParts + 10);
  std::vector<ConstBytes> parts;
  for (std::size_t i = 0; i < bytes.size(); ++i) parts.push_back(ConstBytes(bytes).subspan(i, 1));
  CHECK(ends.near->write(parts).bytes == Stream::kMostParts);
}

TEST_CASE("a stream that is full says later, and its watcher hears when it can go on") {
  Ends ends;
  std::size_t sent = fill(*ends.near);
  CHECK(write_to(*ends.near, as_bytes("x")).state == Io::later);
  std::size_t got = 0;
  for (int round = 0; round < 3; ++round) {
    ends.near_watcher.times = 0;
    REQUIRE(turn_until(*ends.network, [&] {
      got += drain(*ends.far);
      return got == sent && ends.near_watcher.times > 0;
    }));
    sent += fill(*ends.near);
  }
}

TEST_CASE("the end of the other side is seen after its last bytes") {
  Ends ends;
  write_to(*ends.near, as_bytes("last"));
  ends.near.reset();
  std::array<std::byte, 100> bytes{};
  std::size_t got = 0;
  IoResult result;
  REQUIRE(turn_until(*ends.network, [&] {
    result = read_from(*ends.far, bytes);
    got += result.bytes;
    return result.state == Io::end;
  }));
  CHECK(got == 4);
  CHECK_FALSE(ends.far->refused());
}

TEST_CASE("a connection that was reset fails, without a signal, and says why") {
  Ends ends;
  write_to(*ends.near, as_bytes("unread"));
  ends.far_watcher.times = 0;
  REQUIRE(turn_until(*ends.network, [&] { return ends.far_watcher.times > 0; }));
  ends.far.reset();  // with bytes that nobody read: a reset
  IoResult result;
  REQUIRE(turn_until(*ends.network, [&] {
    result = write_to(*ends.near, as_bytes("more"));
    return result.state == Io::failed;
  }));
  CHECK(ends.near->refused());
  CHECK_THAT(ends.near->failure(), Catch::Contains("connection reset") || Catch::Contains("broken pipe"));
  std::array<std::byte, 10> bytes{};
  CHECK(read_from(*ends.near, bytes).state == Io::failed);
}

TEST_CASE("where nobody listens the stream fails and its watcher is told") {
  const auto network = KernelNetwork::open().value();
  CountingWatcher watcher;
  auto listener = network->listen(loopback_address(), watcher).value();
  const Address address = listener->address();
  listener.reset();
  const auto stream = network->connect(address, watcher).value();
  std::array<std::byte, 10> bytes{};
  REQUIRE(turn_until(*network, [&] { return watcher.times > 0 && read_from(*stream, bytes).state == Io::failed; }));
  CHECK(stream->refused());
  CHECK(stream->failure() == "connection refused");
  CHECK_FALSE(stream->connected());
  CHECK(write_to(*stream, as_bytes("x")).state == Io::failed);
}

TEST_CASE("an address that this host does not have cannot be listened at, and a port in use is named") {
  const auto network = KernelNetwork::open().value();
  CountingWatcher watcher;
  const auto elsewhere = network->listen(parse_address("192.0.2.1:0").value(), watcher);
  REQUIRE_FALSE(elsewhere.ok());
  CHECK_THAT(std::string(elsewhere.status().trail()), Catch::Contains("192.0.2.1:0") && Catch::Contains("no interface"));
  const auto listener = network->listen(loopback_address(), watcher).value();
  const auto second = network->listen(listener->address(), watcher);
  REQUIRE_FALSE(second.ok());
  CHECK_THAT(std::string(second.status().trail()),
             Catch::Contains(text(listener->address())) && Catch::Contains("another process has this port"));
}

TEST_CASE("B058 a port is free for the next listener while connections of the last one linger") {
  const auto network = KernelNetwork::open().value();
  CountingWatcher watcher;
  Address address = loopback_address();
  for (int job = 0; job < 20; ++job) {
    Result<std::unique_ptr<Listener>> listener = network->listen(address, watcher);
    REQUIRE(listener.ok());
    address = listener.value()->address();
    const auto near = network->connect(address, watcher).value();
    std::unique_ptr<Stream> far;
    REQUIRE(turn_until(*network, [&] { return (far = listener.value()->accept(watcher)) != nullptr; }));
    far.reset();  // the side of the listener closes first, so its port is what lingers
    std::array<std::byte, 1> byte{};
    REQUIRE(turn_until(*network, [&] { return read_from(*near, byte).state == Io::end; }));
  }
}

TEST_CASE("wake ends a wait that has begun and one that has not, from any thread") {
  const auto network = KernelNetwork::open().value();
  network->wake();
  network->dispatch();  // takes what the system reports of it, not what wait() is owed
  network->wait(kNever);
  std::thread other([&] { network->wake(); });
  network->wait(kNever);
  other.join();
  CHECK(network->dispatch() == 0);
}

TEST_CASE("a wait without events ends at its time") {
  const auto network = KernelNetwork::open().value();
  const TimeNs before = network->clock().now();
  network->wait(3 * kMillisecond);
  CHECK(network->clock().now() >= before + 3 * kMillisecond);
}

TEST_CASE("streams are used while another thread waits") {
  Ends ends;
  std::thread waits([&] { ends.network->wait(kTestPatience); });
  CountingWatcher watcher;
  const auto more = ends.network->connect(ends.listener->address(), watcher).value();
  write_to(*ends.near, as_bytes("x"));
  waits.join();
  REQUIRE(turn_until(*ends.network, [&] { return drain(*ends.far) == 1; }));
}

TEST_CASE("a stream that was handed over tells its new watcher, also what came before") {
  Ends ends;
  write_to(*ends.near, as_bytes("before"));
  ends.far_watcher.times = 0;
  REQUIRE(turn_until(*ends.network, [&] { return ends.far_watcher.times > 0; }));
  CountingWatcher other;
  ends.far->set_watcher(other);
  ends.far_watcher.times = 0;
  REQUIRE(turn_until(*ends.network, [&] { return other.times > 0; }));
  CHECK(drain(*ends.far) == 6);
  write_to(*ends.near, as_bytes("after"));
  other.times = 0;
  REQUIRE(turn_until(*ends.network, [&] { return other.times > 0; }));
  CHECK(ends.far_watcher.times == 0);
}

TEST_CASE("a watcher may destroy its own stream and others in the same turn") {
  Ends ends;
  CountingWatcher watcher;
  std::vector<std::unique_ptr<Stream>> streams;
  int told = 0;
  watcher.then = [&] {
    ++told;
    streams.clear();
  };
  for (int i = 0; i < 20; ++i) streams.push_back(ends.network->connect(ends.listener->address(), watcher).value());
  REQUIRE(turn_until(*ends.network, [&] { return told > 0; }));
  CHECK(streams.empty());
  ends.network->dispatch();
  CHECK(told == 1);  // nobody was told of a stream that had gone
}

TEST_CASE("a doorbell of somebody else is watched until the watch ends") {
  const auto network = KernelNetwork::open().value();
  const Descriptor doorbell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  CountingWatcher watcher;
  auto watch = network->watch(doorbell.get(), watcher).value();
  network->dispatch();
  watcher.times = 0;
  const std::uint64_t one = 1;
  REQUIRE(write(doorbell.get(), &one, sizeof one) == sizeof one);
  REQUIRE(turn_until(*network, [&] { return watcher.times > 0; }));
  watch.reset();
  watcher.times = 0;
  REQUIRE(write(doorbell.get(), &one, sizeof one) == sizeof one);
  network->dispatch();
  CHECK(watcher.times == 0);
}

TEST_CASE("a listener without descriptors rests and goes on when there are some") {
  const auto network = KernelNetwork::open().value();
  CountingWatcher watcher;
  std::unique_ptr<Stream> accepted;
  std::unique_ptr<Listener> listener;
  watcher.then = [&] {
    if (accepted == nullptr && listener != nullptr) accepted = listener->accept(watcher);
  };
  listener = network->listen(loopback_address(), watcher).value();
  CountingWatcher near_watcher;
  const auto near = network->connect(listener->address(), near_watcher).value();

  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &none);
  watcher.times = 0;
  const bool asked_again = turn_until(*network, [&] { return watcher.times > 2; });
  const bool none_accepted = accepted == nullptr;
  setrlimit(RLIMIT_NOFILE, &before);

  CHECK(asked_again);
  CHECK(none_accepted);
  REQUIRE(turn_until(*network, [&] { return accepted != nullptr; }));
}

TEST_CASE("all is closed that was opened") {
  const std::size_t before = open_descriptors();
  { const Ends ends; }
  CHECK(open_descriptors() == before);
}

TEST_CASE("B079 a host that acknowledges nothing is lost, however quiet the stream") {
  Ends ends(Family::inet, 400 * kMillisecond);
  // The far socket drops whatever comes, so that the system there acknowledges nothing.
  int far_descriptor = -1;
  for (int number = 3; number < 64; ++number) {
    if (remote_address(number) == ends.far->peer()) far_descriptor = number;
  }
  REQUIRE(far_descriptor >= 0);
  sock_filter drop{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &drop};
  REQUIRE(setsockopt(far_descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
  write_to(*ends.near, as_bytes("into the void"));
  std::array<std::byte, 10> bytes{};
  bool told = false;
  ends.near_watcher.then = [&] { told = read_from(*ends.near, bytes).state == Io::failed; };
  REQUIRE(turn_until(*ends.network, [&] { return told; }));
  CHECK(ends.near->failure() == "connection timed out");
  CHECK_FALSE(ends.near->refused());
}

TEST_CASE("B079 a host that acknowledges is not lost, however long its program takes nothing") {
  Ends ends(Family::inet, 50 * kMillisecond);
  fill(*ends.near);
  const TimeNs until = ends.network->clock().now() + kSecond;
  turn_until(*ends.network, [&] { return ends.network->clock().now() >= until; });
  CHECK(write_to(*ends.near, as_bytes("x")).state != Io::failed);
}

TEST_CASE("the child of a fork that closes its copies does not hide its parent's end") {
  Ends ends;
  std::array<int, 2> pipe_ends{};
  REQUIRE(pipe2(pipe_ends.data(), O_CLOEXEC) == 0);
  Descriptor read_end(pipe_ends[0]);
  Descriptor write_end(pipe_ends[1]);
  const pid_t child = testing::forked([&] {
    ends.network->close_all_in_child();
    std::array<std::byte, 1> byte{};
    const bool dead = read_from(*ends.far, byte).state == Io::failed;
    write_end.reset();
    while (read(read_end.get(), byte.data(), 1) > 0) continue;  // lives until its parent has seen what it wants
    return dead ? 0 : 1;
  });
  read_end.reset();
  ends.near.reset();
  std::array<std::byte, 1> byte{};
  const bool ended = turn_until(*ends.network, [&] { return read_from(*ends.far, byte).state == Io::end; });
  write_end.reset();
  CHECK(testing::exit_code(child) == 0);
  CHECK(ended);
}

}  // namespace hcomm
