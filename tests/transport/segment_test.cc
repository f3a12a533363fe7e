#include "transport/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "transport/cursor.h"
#include "transport/shm.h"

namespace hcomm {
namespace {

constexpr Geometry kSmall = {.ranks = 3, .slots = 2, .slot_bytes = 256, .ring_bytes = 1024};

int make_segment(const Geometry& geometry, int contexts = 1) {
  const std::size_t bytes =
      shm_segment_bytes(geometry.ranks, geometry.slots, geometry.slot_bytes, geometry.ring_bytes, contexts);
  return create_segment(bytes).value();
}

bool says(const Status& status, std::string_view text) { return status.trail().find(text) != std::string_view::npos; }

TEST_CASE("the parts of a context do not overlap, at any size") {
  for (const int ranks : {1, 2, 7, 256, kMaxShmRanks}) {
    for (const std::size_t slot_bytes : {std::size_t{0}, std::size_t{64}, std::size_t{1} << 32}) {
      const auto n = static_cast<std::size_t>(ranks);
      const Layout layout({.ranks = ranks, .slots = kMaxSlots, .slot_bytes = slot_bytes, .ring_bytes = kMaxRingBytes});
      const std::vector<std::pair<std::size_t, std::size_t>> parts = {
          {layout.verdict, sizeof(VerdictCell)},
          {layout.lives, n * sizeof(Life)},
          {layout.pulses, n * sizeof(Pulse)},
          {layout.steps, n * sizeof(StepLine)},
          {layout.doorbells, n * sizeof(Doorbell)},
          {layout.records, n * kMaxSlots * sizeof(ExposedRecord)},
          {layout.slots, n * kMaxSlots * slot_bytes},
          {layout.rings, n * n * kLanes * layout.ring_stride},
      };
      std::size_t end = 48;  // the header
      for (const auto& [start, bytes] : parts) {
        REQUIRE(start >= end);
        end = start + bytes;
        REQUIRE(end >= start);
      }
      REQUIRE(layout.bytes >= end);
      REQUIRE(layout.bytes % kPageBytes == 0);
      REQUIRE(layout.bytes < std::size_t{1} << 47);  // what a process can map
      REQUIRE(shm_segment_bytes(ranks, kMaxSlots, slot_bytes, kMaxRingBytes, kMaxContexts) == layout.bytes * kMaxContexts);
    }
  }
}

TEST_CASE("all that is small lies together, and each writer has lines of its own") {
  for (const int ranks : {2, 8, 64}) {
    const Layout layout({.ranks = ranks, .slots = 2, .slot_bytes = 4096, .ring_bytes = 4096});
    const auto n = static_cast<std::size_t>(ranks);
    CHECK(layout.slots <= round_up(n * 576 + 512, kPageBytes));
    for (const std::size_t start : {layout.verdict, layout.lives, layout.pulses, layout.steps, layout.doorbells}) {
      CHECK(start % 128 == 0);
    }
    CHECK(layout.records % 128 == 0);
    CHECK(layout.slots % kPageBytes == 0);
    CHECK(layout.rings % kPageBytes == 0);
    CHECK(layout.ring_stride == 2 * 4096);
  }
}

TEST_CASE("a segment of illegal sizes has no size") {
  CHECK(shm_segment_bytes(2, 2, 64, 4096, 1) > 0);
  CHECK(shm_segment_bytes(0, 2, 64, 4096, 1) == 0);
  CHECK(shm_segment_bytes(kMaxShmRanks + 1, 2, 64, 4096, 1) == 0);
  CHECK(shm_segment_bytes(2, 9, 64, 4096, 1) == 0);
  CHECK(shm_segment_bytes(2, 2, 65, 4096, 1) == 0);
  CHECK(shm_segment_bytes(2, 2, 64, 5000, 1) == 0);
  CHECK(shm_segment_bytes(2, 2, 64, 4096, 0) == 0);
  CHECK(shm_segment_bytes(2, 2, 64, 4096, kMaxContexts + 1) == 0);
  CHECK(create_segment(0).status().code() == hcommInvalidArgument);
}

TEST_CASE("a segment is sealed, closed on exec, for its user alone, and costs nothing until touched") {
  const int fd = make_segment({.ranks = 64, .slots = 2, .slot_bytes = 1 << 20, .ring_bytes = 64 << 10}, kMaxContexts);
  CHECK(ftruncate(fd, 4096) == -1);
  CHECK((fcntl(fd, F_GET_SEALS) & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  struct stat file{};
  REQUIRE(fstat(fd, &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
  CHECK(file.st_blocks == 0);
  {
    auto rank = open_shm({.segment_fd = fd, .context = 1000, .rank = 5, .ranks = 64, .slots = 2, .slot_bytes = 1 << 20});
    REQUIRE(rank.ok());
    REQUIRE(fstat(fd, &file) == 0);
    CHECK(file.st_blocks * 512 < 1 << 20);  // only what the rank touched: nobody's slots or rings
  }
  close(fd);
}

TEST_CASE("a size above the limit of files is an error, not a signal") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit low = {.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
  const auto refused = create_segment(2 << 20);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(refused.status().code() == hcommSystemError);
  CHECK(says(refused.status(), "ulimit -f"));
}

TEST_CASE("ranks with other settings are refused by the name of the setting") {
  const int fd = make_segment({.ranks = 8, .slots = 8, .slot_bytes = 4096, .ring_bytes = 8192});
  const auto first = Context::map(fd, 0, kSmall);
  REQUIRE(first.ok());
  CHECK(Context::map(fd, 0, kSmall).ok());
  Geometry other = kSmall;
  other.ranks = 4;
  CHECK(Context::map(fd, 0, other).status().code() == hcommMismatch);
  CHECK(says(Context::map(fd, 0, other).status(), "the number of ranks is 3 in shared memory and 4 here"));
  other = kSmall;
  other.slots = 1;
  CHECK(says(Context::map(fd, 0, other).status(), "HCOMM_SLOTS"));
  other = kSmall;
  other.slot_bytes = 512;
  CHECK(says(Context::map(fd, 0, other).status(), "HCOMM_BUFFSIZE"));
  other = kSmall;
  other.ring_bytes = 2048;
  CHECK(says(Context::map(fd, 0, other).status(), "ring"));
  close(fd);
}

TEST_CASE("a file that is not such a segment is refused before it is looked into") {
  const int fd = make_segment(kSmall);
  CHECK(Context::map(fd, 1, kSmall).status().code() == hcommMismatch);  // there is one context
  CHECK(Context::map(fd, -1, kSmall).status().code() == hcommInvalidArgument);
  CHECK(Context::map(fd, kMaxContexts, kSmall).status().code() == hcommInvalidArgument);
  close(fd);
  CHECK_FALSE(Context::map(fd, 0, kSmall).ok());
  const int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(ftruncate(unsealed, 1 << 24) == 0);
  CHECK(says(Context::map(unsealed, 0, kSmall).status(), "not a sealed memory file"));
  close(unsealed);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  CHECK(says(Context::map(null, 0, kSmall).status(), "not a sealed memory file"));
  close(null);
}

}  // namespace
}  // namespace hcomm
