#include "comm/coordinators.h"

#include <catch2/catch.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "base/child.h"
#include "bootstrap/join.h"

// Coordinators outlive the process's last instruction by design (comm/coordinators.cc), so the thread of the last meeting
// is never joined; the thread sanitizer asks for its options here.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "report_thread_leaks=0"; }

namespace hcomm {
namespace {

Settings on_loopback() {
  Settings settings;
  settings.socket_ifname = "=lo";
  return settings;
}

// All ranks meet, each in a thread of its own. "" or the first failure.
std::string meet(const JobId& job, int ranks) {
  std::vector<std::string> wrong(static_cast<std::size_t>(ranks));
  std::vector<ino_t> segments(wrong.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank, index = static_cast<std::size_t>(rank)] {
      const auto meeting = join(job, {.rank = rank, .ranks = ranks, .timeout_ns = 30 * kSecond, .agreement = "", .progress = {}});
      if (!meeting.ok()) {
        wrong[index] = std::string(meeting.status().trail());
        return;
      }
      if (meeting.value().members.size() != wrong.size()) wrong[index] = "not all members";
      struct stat file {};
      if (fstat(meeting.value().segment.get(), &file) != 0 || file.st_size == 0) wrong[index] = "no segment";
      segments[index] = file.st_ino;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t rank = 0; rank < wrong.size(); ++rank) {
    if (!wrong[rank].empty()) return wrong[rank];
    if (segments[rank] != segments[0]) return "not the same segment";
  }
  return {};
}

std::ptrdiff_t open_descriptors() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

// Within ten seconds.
template <class Condition>
bool eventually(Condition condition) {
  for (int turn = 0; turn < 1000; ++turn) {
    if (condition()) return true;
    poll(nullptr, 0, 10);
  }
  return false;
}

}  // namespace

TEST_CASE("several meetings are served at once") {
  JobId first = make_job_id().value();
  JobId second = make_job_id().value();
  REQUIRE(serve(first, on_loopback()).ok());
  REQUIRE(serve(second, on_loopback()).ok());
  CHECK(meet(second, 2) == "");
  CHECK(meet(first, 3) == "");
}

TEST_CASE("an id is served once") {
  JobId job = make_job_id().value();
  REQUIRE(serve(job, on_loopback()).ok());
  CHECK_FALSE(serve(job, on_loopback()).ok());
  CHECK(meet(job, 2) == "");  // by the first
}

TEST_CASE("settings that give no segment are told to all ranks") {
  JobId job = make_job_id().value();
  Settings settings;
  settings.buffer_bytes = 64;
  REQUIRE(serve(job, settings).ok());
  CHECK_THAT(meet(job, 2), Catch::Contains("HCOMM_BUFFSIZE=64"));
}

TEST_CASE("meetings that are over are cleared away") {
  const auto serve_and_meet = [] {
    JobId job = make_job_id().value();
    REQUIRE(serve(job, on_loopback()).ok());
    REQUIRE(meet(job, 2) == "");
  };
  serve_and_meet();
  const std::ptrdiff_t before = open_descriptors();
  for (int round = 0; round < 20; ++round) serve_and_meet();
  CHECK(eventually([&] {
    serve_and_meet();
    return open_descriptors() <= before + 4;  // far fewer than one for each
  }));
}

TEST_CASE("the child of a fork serves nothing of its parent's", "[process]") {
  JobId job = make_job_id().value();
  REQUIRE(serve(job, on_loopback()).ok());
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = testing::forked([&] {
    close(ends[1]);
    char byte = 0;
    return read(ends[0], &byte, 1) == 0 ? 7 : 1;  // when the parent has closed its end
  });
  close(ends[0]);
  CHECK(meet(job, 2) == "");
  // While the child lives, the name of the meeting is free again: the child does not hold its socket.
  CHECK(eventually([&] { return serve(job, on_loopback()).ok(); }));
  CHECK(meet(job, 2) == "");
  CHECK(waitpid(child, nullptr, WNOHANG) == 0);
  close(ends[1]);
  int status = -1;
  const bool ended = eventually([&] { return waitpid(child, &status, WNOHANG) == child; });
  if (!ended) kill(child, SIGKILL);
  CHECK(ended);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

}  // namespace hcomm
