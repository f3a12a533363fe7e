#include "transport/local_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/child.h"
#include "transport/cursor.h"
#include "transport/peer_windows.h"

namespace hcomm {
namespace {

std::byte* allocate(std::size_t bytes) { return static_cast<std::byte*>(allocate_window(bytes).value()); }

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST_CASE("a window is zeroed, page aligned, and gone when freed") {
  const std::size_t files = open_files();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{1000001}}) {
    std::byte* const memory = allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 4096 == 0);
    CHECK(static_cast<std::size_t>(std::count(memory, memory + bytes, std::byte{0})) == bytes);
    std::memset(memory, 1, bytes);
    CHECK(free_window(memory).ok());
    CHECK_FALSE(find_window(memory, 1).has_value());
  }
  CHECK(open_files() == files);
  CHECK(allocate_window(0).status().code() == hcommInvalidArgument);
  CHECK(allocate_window(SIZE_MAX).status().code() == hcommOutOfMemory);
  CHECK(allocate_window(SIZE_MAX / 2).status().code() == hcommOutOfMemory);
}

TEST_CASE("what is not the start of a live window is not freed") {
  std::byte* const memory = allocate(10000);
  int local = 0;
  CHECK(free_window(memory + 64).code() == hcommInvalidArgument);
  CHECK(free_window(&local).code() == hcommInvalidArgument);
  CHECK(free_window(nullptr).code() == hcommInvalidArgument);
  CHECK(free_window(memory).ok());
  CHECK(free_window(memory).code() == hcommInvalidArgument);
}

TEST_CASE("a range is found in its window, and only if all of it lies there") {
  int local = 0;
  CHECK_FALSE(find_window(&local, sizeof local).has_value());
  std::byte* const first = allocate(5000);
  std::byte* const second = allocate(5000);
  const auto whole = find_window(first, 5000);
  REQUIRE(whole.has_value());
  CHECK(whole->offset == 0);
  CHECK(whole->id >= 3);
  const auto part = find_window(first + 100, 4900);
  REQUIRE(part.has_value());
  CHECK(*part == WindowRef{.id = whole->id, .generation = whole->generation, .offset = 100});
  CHECK_FALSE(find_window(first + 100, 4901).has_value());
  CHECK_FALSE(find_window(first + 5000, 1).has_value());
  CHECK_FALSE(find_window(first - 1, 2).has_value());
  CHECK_FALSE(find_window(first + 1, SIZE_MAX).has_value());
  CHECK(find_window(second, 1)->generation != whole->generation);
  CHECK_FALSE(find_window(&local, sizeof local).has_value());
  CHECK(free_window(first).ok());
  CHECK_FALSE(find_window(first, 1).has_value());
  CHECK(find_window(second, 5000).has_value());
  CHECK(free_window(second).ok());
}

TEST_CASE("threads allocate, find and free at the same time") {
  std::vector<std::thread> threads;
  std::array<int, 4> wrong{};
  for (std::size_t which = 0; which < wrong.size(); ++which) {
    threads.emplace_back([&wrong, which] {
      for (int round = 0; round < 50; ++round) {
        std::byte* const memory = allocate(3000);
        wrong[which] += find_window(memory + 10, 100).has_value() ? 0 : 1;
        wrong[which] += free_window(memory).ok() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::array<int, 4>{});
}

TEST_CASE("a reader sees what the owner writes, through a mapping that is made once") {
  std::byte* const memory = allocate(100000);
  const WindowRef window = *find_window(memory + 64, 1000);
  PeerWindows windows;
  const std::byte* const seen = windows.map(3, getpid(), window, 1000).value();
  CHECK(seen != memory + 64);
  memory[64] = std::byte{42};
  CHECK(seen[0] == std::byte{42});
  CHECK(windows.map(3, getpid(), window, 1000).value() == seen);
  CHECK(windows.map(3, getpid(), {window.id, window.generation, 0}, 100000).value() == seen - 64);
  CHECK(windows.mappings() == 1);
  CHECK(windows.map(3, getpid(), {window.id, window.generation, 0}, 100001).status().code() == hcommRemoteError);
  CHECK(windows.map(3, getpid(), {window.id, window.generation, UINT64_MAX}, 2).status().code() == hcommRemoteError);
  CHECK(windows.map(3, getpid(), {window.id, window.generation, 100000}, 0).ok());
  CHECK(free_window(memory).ok());
}

TEST_CASE("a window that was freed, or another behind the same descriptor, is refused") {
  std::byte* const memory = allocate(5000);
  const WindowRef old = *find_window(memory, 1);
  PeerWindows windows;
  const std::byte* const stale = windows.map(0, getpid(), old, 1).value();
  memory[0] = std::byte{9};
  CHECK(free_window(memory).ok());
  CHECK(stale[0] == std::byte{0});  // still mapped, harmless, and the pages are returned
  PeerWindows fresh;
  CHECK(fresh.map(0, getpid(), old, 1).status().code() == hcommRemoteError);
  std::byte* const next = allocate(5000);
  const WindowRef reused = *find_window(next, 1);
  REQUIRE(reused.id == old.id);
  CHECK(reused.generation != old.generation);
  CHECK(fresh.map(0, getpid(), old, 1).status().trail().find("freed") != std::string_view::npos);
  CHECK(windows.map(0, getpid(), reused, 1).ok());
  CHECK(windows.mappings() == 1);  // the older one behind the same descriptor went
  CHECK(free_window(next).ok());
}

TEST_CASE("descriptors of other things are refused, and none is left open") {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const int null = open("/dev/null", O_RDONLY);
  const int file = open("/proc/self/exe", O_RDONLY);
  const int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(ftruncate(unsealed, 1 << 20) == 0);
  const int empty = memfd_create("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(fcntl(empty, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  const int headless = memfd_create("headless", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(ftruncate(headless, 1 << 20) == 0);
  REQUIRE(fcntl(headless, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  const std::size_t files = open_files();
  PeerWindows windows;
  const std::array<int, 10> descriptors = {pipe_ends[0], pipe_ends[1], null, file, unsealed, empty, headless, 0, -1, 987654};
  for (const int descriptor : descriptors) {
    INFO("descriptor " << descriptor);
    CHECK(windows.map(1, getpid(), {static_cast<std::uint64_t>(descriptor), 1, 0}, 1).status().code() == hcommRemoteError);
  }
  CHECK(windows.map(1, 0, {5, 1, 0}, 1).status().code() == hcommRemoteError);
  CHECK(open_files() == files);
  for (const int descriptor : {pipe_ends[0], pipe_ends[1], null, file, unsealed, empty, headless}) close(descriptor);
}

TEST_CASE("a header that lies about its size is refused") {
  const int fd = memfd_create("liar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  REQUIRE(ftruncate(fd, 4 * kPageBytes) == 0);
  REQUIRE(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  for (const std::uint64_t bytes : {std::uint64_t{3 * kPageBytes + 1}, UINT64_MAX, std::uint64_t{3 * kPageBytes}}) {
    const WindowHeader header = {.magic = kWindowMagic, .generation = 5, .bytes = bytes};
    REQUIRE(pwrite(fd, &header, sizeof header, 0) == sizeof header);
    PeerWindows windows;
    CHECK(windows.map(0, getpid(), {static_cast<std::uint64_t>(fd), 5, 0}, 1).ok() == (bytes == 3 * kPageBytes));
  }
  close(fd);
}

TEST_CASE("a peer process maps a window, and the child of a fork has none") {
  std::byte* const memory = allocate(8192);
  memory[5000] = std::byte{77};
  const WindowRef window = *find_window(memory, 8192);
  const pid_t parent = getpid();
  const pid_t child = testing::forked([&] {
    int wrong = find_window(memory, 1).has_value() ? 1 : 0;
    wrong += free_window(memory).code() == hcommInvalidArgument ? 0 : 2;
    wrong += fcntl(static_cast<int>(window.id), F_GETFD) == -1 ? 0 : 4;
    PeerWindows windows;
    const auto mapped = windows.map(0, parent, window, 8192);
    wrong += mapped.ok() && mapped.value()[5000] == std::byte{77} ? 0 : 8;
    const PeerProcess peer = {parent, own_pid_namespace()};
    wrong += can_map_peers({&peer, 1}) ? 0 : 16;
    std::byte* const own = allocate(100);
    own[0] = std::byte{1};
    wrong += free_window(own).ok() ? 0 : 32;
    return wrong;
  });
  CHECK(testing::exit_code(child) == 0);
  CHECK(memory[5000] == std::byte{77});
  const PeerProcess gone = {child, own_pid_namespace()};
  const PeerProcess elsewhere = {getpid(), own_pid_namespace() + 1};
  const PeerProcess nobody = {0, own_pid_namespace()};
  CHECK_FALSE(can_map_peers({&gone, 1}));
  CHECK_FALSE(can_map_peers({&elsewhere, 1}));
  CHECK_FALSE(can_map_peers({&nobody, 1}));
  CHECK(can_map_peers({}));
  CHECK(free_window(memory).ok());
}

TEST_CASE("mappings are limited, and the one not used for longest goes first") {
  constexpr std::size_t kWindows = 8;
  std::array<std::byte*, kWindows> memory;
  for (std::size_t i = 0; i < kWindows; ++i) {
    memory[i] = allocate(100);
    memory[i][0] = static_cast<std::byte>(i);
  }
  PeerWindows windows;
  for (std::size_t i = 0; i < PeerWindows::kMostMappings + 100; ++i) {
    // Peer numbers are the caller's: each makes a mapping of its own.
    const auto mapped = windows.map(static_cast<int>(i / kWindows), getpid(), *find_window(memory[i % kWindows], 1), 1);
    REQUIRE(mapped.ok());
    REQUIRE(*mapped.value() == static_cast<std::byte>(i % kWindows));
  }
  CHECK(windows.mappings() == PeerWindows::kMostMappings);
  for (std::byte* each : memory) CHECK(free_window(each).ok());
}

}  // namespace
}  // namespace hcomm
