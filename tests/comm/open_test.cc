#include "comm/open.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <array>

#include "transport/segment.h"
#include "transport/shm.h"

namespace hcomm {
namespace {

Settings with_transport(std::string_view list) {
  Settings settings;
  settings.transport = list;
  return settings;
}

std::string chosen(std::string_view list, bool between_processes) {
  return std::string(choose_transport(with_transport(list), between_processes).value());
}

// The text after the code's name.
std::string refused(std::string_view list, bool between_processes, hcommResult_t code) {
  const Result<std::string_view> result = choose_transport(with_transport(list), between_processes);
  REQUIRE_FALSE(result.ok());
  CHECK(result.status().code() == code);
  return std::string(result.status().trail());
}

void pass_a_message(Transport& from, Transport& to, int sender, int receiver) {
  const std::array<std::byte, 3> sent = {std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<std::byte, 3> received{};
  Completion send_end, recv_end;
  const ConstBytes source(sent);
  const Bytes target(received);
  from.channel(receiver, Lane::collective).send({&source, 1}, 0, send_end);
  to.channel(sender, Lane::collective).recv({&target, 1}, 0, recv_end);
  for (int turn = 0; turn < 1000 && !(send_end.finished && recv_end.finished); ++turn) {
    from.poll();
    to.poll();
  }
  CHECK(send_end.finished);
  CHECK(recv_end.status.ok());
  CHECK(received == sent);
}

}  // namespace

TEST_CASE("sizes follow from ranks and settings") {
  const Settings defaults;
  CHECK(choose_sizes(2, defaults).value().slots == 2);
  CHECK(choose_sizes(2, defaults).value().slot_bytes == std::size_t{1} << 20);       // the largest
  CHECK(choose_sizes(64, defaults).value().slot_bytes == std::size_t{256} << 10);    // 32 MiB for all slots together
  CHECK(choose_sizes(400, defaults).value().slot_bytes == std::size_t{64} << 10);    // the smallest
  CHECK(choose_sizes(1024, defaults).value().slot_bytes == std::size_t{128} << 10);  // 128 bytes for each rank's block
  CHECK(choose_sizes(16, defaults).value().ring_bytes == std::size_t{256} << 10);
  CHECK(choose_sizes(17, defaults).value().ring_bytes == std::size_t{64} << 10);
  Settings own;
  own.slots = 5;
  own.buffer_bytes = 1000;
  CHECK(choose_sizes(2, own).value().slots == 5);
  CHECK(choose_sizes(2, own).value().slot_bytes == 1024);  // whole cache lines
}

TEST_CASE("all sizes are legal for shared memory") {
  for (int ranks = 1; ranks <= kMaxShmRanks; ranks += ranks < 40 ? 1 : 41) {
    for (int slots = 0; slots <= kMaxSlots; ++slots) {
      Settings settings;
      settings.slots = slots;
      const Sizes sizes = choose_sizes(ranks, settings).value();
      INFO(ranks << " ranks, " << slots << " slots");
      const Geometry geometry{
          .ranks = ranks, .slots = sizes.slots, .slot_bytes = sizes.slot_bytes, .ring_bytes = sizes.ring_bytes};
      CHECK(check_shm_geometry(geometry).ok());
      CHECK(sizes.slot_bytes >= 128 * static_cast<std::size_t>(ranks));
      CHECK(shm_segment_bytes(ranks, sizes.slots, sizes.slot_bytes, sizes.ring_bytes, kMaxContexts) > 0);
    }
  }
}

TEST_CASE("slots that are too small are refused by name and number") {
  Settings settings;
  settings.buffer_bytes = 64;
  const Result<Sizes> sizes = choose_sizes(2, settings);
  REQUIRE_FALSE(sizes.ok());
  CHECK(sizes.status().code() == hcommInvalidArgument);
  CHECK_THAT(std::string(sizes.status().trail()), Catch::Contains("HCOMM_BUFFSIZE=64") && Catch::Contains("2 ranks") &&
                                                      Catch::Contains("at least 256 bytes"));
  settings.buffer_bytes = 256;
  CHECK(choose_sizes(2, settings).ok());
  CHECK_FALSE(choose_sizes(3, settings).ok());
  CHECK_FALSE(make_segment(3, settings).ok());
}

TEST_CASE("HCOMM_TRANSPORT is a list in order of preference, or what to leave out") {
  CHECK(chosen("", true) == "shm");
  CHECK(chosen("", false) == "loopback");
  for (const bool between_processes : {true, false}) {
    CHECK(chosen("shm", between_processes) == "shm");
    CHECK(chosen("shm,loopback", between_processes) == "shm");
    CHECK(chosen("^loopback", between_processes) == "shm");
  }
  CHECK(chosen("loopback,shm", true) == "shm");  // loopback does not reach another process
  CHECK(chosen("loopback,shm", false) == "loopback");
  CHECK(chosen("^shm", false) == "loopback");
  CHECK(chosen("^shm", true) == "tcp");
  CHECK(chosen("tcp", true) == "tcp");
  CHECK(chosen("tcp", false) == "tcp");
  CHECK(chosen("tcp,shm", true) == "tcp");
}

TEST_CASE("what leaves no transport is refused, and the legal names are told") {
  for (const char* const list : {"^shm,tcp", "loopback", "^shm,tcp,loopback"}) {
    CHECK_THAT(refused(list, true, hcommInvalidUsage), Catch::Contains("HCOMM_TRANSPORT=" + std::string(list)) &&
                                                           Catch::Contains("between processes") &&
                                                           Catch::Contains("shm, tcp, loopback"));
  }
  CHECK_THAT(refused("^shm,tcp,loopback", false, hcommInvalidUsage), Catch::Contains("between threads"));
}

TEST_CASE("an unknown transport is refused wherever it stands in the list") {
  for (const bool between_processes : {true, false}) {
    for (const char* const list : {"foo", "^foo", "shm,foo", "foo,shm"}) {
      CHECK_THAT(refused(list, between_processes, hcommInvalidArgument),
                 Catch::Contains("HCOMM_TRANSPORT") && Catch::Contains("'foo'") && Catch::Contains("shm, tcp, loopback"));
    }
    CHECK_THAT(refused(",shm", between_processes, hcommInvalidArgument), Catch::Contains("''"));
    CHECK_THAT(refused("SHM", between_processes, hcommInvalidArgument), Catch::Contains("'SHM'"));
  }
}

TEST_CASE("all ranks of a process are opened alike and reach each other") {
  Settings settings;
  settings.slots = 3;
  settings.buffer_bytes = 4096;
  const Sizes sizes = choose_sizes(3, settings).value();
  for (const char* const name : {"loopback", "shm"}) {
    INFO(name);
    const auto opened = open_all(name, {.ranks = 3}, sizes).value();
    REQUIRE(opened.size() == 3);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      const Window& window = *opened[rank]->window();
      CHECK(window.self == static_cast<int>(rank));
      CHECK(window.ranks == 3);
      CHECK(window.slots == 3);
      CHECK(window.slot_bytes == 4096);
    }
    pass_a_message(*opened[0], *opened[2], 0, 2);
  }
}

TEST_CASE("one segment holds several communicators, which do not meet") {
  const Settings settings;
  const Sizes sizes = choose_sizes(2, settings).value();
  const int segment = make_segment(2, settings).value();
  std::vector<std::unique_ptr<Transport>> opened;
  for (const int context : {0, kMaxContexts - 1}) {
    for (int rank = 0; rank < 2; ++rank) {
      Place place{.segment_fd = segment, .context = context, .rank = rank, .ways = {.ranks = 2}, .pids = {}, .hub = {}};
      opened.push_back(open_one(place, sizes).value());
    }
  }
  close(segment);
  opened[0]->board().set_call(0, {.number = 4});
  CHECK(opened[1]->board().entered(0) == 5);
  CHECK(opened[3]->board().entered(0) == 0);
  pass_a_message(*opened[0], *opened[1], 0, 1);
  pass_a_message(*opened[3], *opened[2], 1, 0);
}

}  // namespace hcomm
