// The small parts: cursors, the queue that keeps its items, futexes, robust pulses, the table.
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "transport/cursor.h"
#include "transport/doorbell.h"
#include "transport/fifo.h"
#include "transport/futex.h"
#include "transport/robust_pulses.h"
#include "transport/table.h"
#include "transport/transport.h"

namespace hcomm {
namespace {

TEST_CASE("a cursor walks over parts, empty ones too") {
  std::array<std::byte, 10> source{};
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i);
  std::array<std::byte, 10> target{};
  const std::array<ConstBytes, 4> from = {ConstBytes(), ConstBytes(source).first(3), ConstBytes(), ConstBytes(source).subspan(3)};
  const std::array<Bytes, 3> to = {Bytes(target).first(7), Bytes(), Bytes(target).subspan(7)};
  ConstCursor reader(from);
  Cursor writer(to);
  CHECK(reader.left() == 10);
  CHECK(reader.here().size() == 3);
  copy_between(reader, writer);
  CHECK(reader.left() == 0);
  CHECK(writer.here().empty());
  CHECK(source == target);
  CHECK(ConstCursor().left() == 0);
  CHECK(ConstCursor().here().empty());
}

TEST_CASE("a geometry out of range is refused with what is legal") {
  CHECK(check_geometry(4, 2, 128).ok());
  CHECK(check_geometry(0, 2, 128).code() == hcommInvalidArgument);
  CHECK(check_geometry(kMaxRanks + 1, 2, 128).code() == hcommInvalidArgument);
  CHECK(check_geometry(4, kMaxSlots + 1, 128).trail().find("legal are 1 to 8") != std::string_view::npos);
  CHECK(check_geometry(4, 2, 100).trail().find("multiples of 64") != std::string_view::npos);
}

TEST_CASE("a fifo keeps order while it grows and wraps") {
  Fifo<std::vector<int>> fifo;
  int in = 0;
  int out = 0;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < round % 7; ++i) fifo.push().assign(1, in++);
    for (int i = 0; i < round % 5 && !fifo.empty(); ++i) {
      REQUIRE(fifo.front().front() == out++);
      fifo.pop();
    }
  }
  CHECK(fifo.size() == static_cast<std::size_t>(in - out));
  CHECK(in - out > 20);
}

TEST_CASE("a futex wait ends when the word differs, when woken, and when the time is over") {
  std::atomic<std::uint32_t> word{1};
  std::atomic<std::uint32_t> other{5};
  CHECK(futex_wait(word, 0, 60 * kSecond));
  CHECK_FALSE(futex_wait(word, 1, kMillisecond));
  CHECK_FALSE(futex_wait(word, 1, -5));
  const std::array<ExpectedWord, 2> same = {ExpectedWord{&word, 1}, ExpectedWord{&other, 5}};
  const std::array<ExpectedWord, 2> differs = {ExpectedWord{&word, 1}, ExpectedWord{&other, 6}};
  if (!futex_wait_any(differs, 60 * kSecond)) return;  // an old kernel; the keeper then looks every few milliseconds
  CHECK(futex_wait_any(same, kMillisecond));
  std::thread waker([&] {
    other.store(6);
    futex_wake(other, kWakeAll);
  });
  while (other.load() == 5) futex_wait_any(same, 60 * kSecond);
  waker.join();
  CHECK(other.load() == 6);
}

TEST_CASE("one ring wakes, whoever rings, and only a sleeper is rung") {
  std::array<Doorbell, 2> bells;
  Window window = {.ranks = 2, .self = 0, .doorbells = bells.data()};
  ring(window, 1);
  CHECK(bells[1].word.load() == 0);
  Sleeper sleeper(bells[1]);
  sleeper.arm();
  ring(window, 1);
  ring(window, 1);
  CHECK(bells[1].word.load() == 1);
  CHECK(sleeper.sleep(60 * kSecond));
  sleeper.arm();
  sleeper.disarm();
  ring(window, 1);
  CHECK(bells[1].word.load() == 1);
  ring_always(bells[1]);
  CHECK(bells[1].word.load() == 2);
}

TEST_CASE("the kernel marks the pulses that a thread held when it ended, and no others") {
  std::array<Pulse, 4> pulses;
  RobustPulses robust;
  bool all_taken = false;
  bool taken_twice = true;
  std::thread([&] {
    if (!robust.adopt_calling_thread()) return;
    const auto id = static_cast<std::uint32_t>(gettid());
    all_taken = robust.take(pulses[0], id) && robust.take(pulses[1], id) && robust.take(pulses[2], id);
    taken_twice = robust.take(pulses[0], id);
    robust.release(pulses[1]);
  }).join();
  REQUIRE(all_taken);
  CHECK_FALSE(taken_twice);
  CHECK((pulses[0].word.load() & FUTEX_OWNER_DIED) != 0);
  CHECK(pulses[1].word.load() == 0);
  CHECK((pulses[2].word.load() & FUTEX_OWNER_DIED) != 0);
  CHECK(pulses[3].word.load() == 0);
}

TEST_CASE("a peer that overwrites the list in shared memory cannot lead the kernel astray for long") {
  std::array<Pulse, 2> pulses;
  RobustPulses robust;
  std::thread([&] {
    if (!robust.adopt_calling_thread()) return;
    robust.take(pulses[0], static_cast<std::uint32_t>(gettid()));
    pulses[0].node.next = &pulses[0].node;  // a circle
  }).join();
  CHECK((pulses[0].word.load() & FUTEX_OWNER_DIED) != 0);
}

TEST_CASE("the table is in order and its names find their records") {
  int last = INT_MAX;
  for (const TransportRecord& record : transports()) {
    CHECK(record.priority < last);
    last = record.priority;
    CHECK(find_transport(record.name) == &record);
  }
  CHECK(find_transport("shm")->between_processes);
  CHECK_FALSE(find_transport("loopback")->between_processes);
  CHECK(find_transport("carrier pigeon") == nullptr);
}

}  // namespace
}  // namespace hcomm
