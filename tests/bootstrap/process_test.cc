// Goal: the same between processes, with deaths, other users and forks. Method: children that report by their exit code.
#include "bootstrap/coordinator.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "base/child.h"
#include "rig.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

using testing::exit_code;
using testing::forked;

TEST_CASE("processes meet, share the segment's memory and know each other's pids") {
  Served served = serve();
  std::vector<pid_t> children;
  for (int rank = 0; rank < 4; ++rank) {
    children.push_back(forked([&] {
      const Outcome outcome = join_once(served.id, team(4)[static_cast<std::size_t>(rank)]);
      if (outcome.code != hcommSuccess) return 1;
      const auto own = static_cast<unsigned char>('a' + rank);
      if (pwrite(outcome.meeting.segment.get(), &own, 1, rank) != 1) return 2;
      const Member& self = outcome.meeting.members[static_cast<std::size_t>(rank)];
      return self.facts.pid == getpid() && self.visible_pid == getpid() ? 0 : 3;
    }));
  }
  for (const pid_t child : children) CHECK(exit_code(child) == 0);
}

TEST_CASE("a rank that dies while it waits is named to the others, at once") {
  Served served = serve();
  const pid_t victim = forked([&] { return join_once(served.id, team(3)[1]).code == hcommSuccess ? 0 : 1; });
  JoinOptions survivor = team(3)[0];
  survivor.progress_every_ns = 10 * kMillisecond;
  bool killed = false;
  survivor.progress = [&](std::string_view line) {
    if (killed || line.find("2 of 3 ranks arrived") == std::string_view::npos) return;
    killed = kill(victim, SIGKILL) == 0;
  };
  const Outcome outcome = join_once(served.id, survivor);
  CHECK(killed);
  CHECK(outcome.code == hcommRemoteError);
  CHECK_THAT(outcome.text, Contains("rank 1 (pid " + std::to_string(victim) + ") left"));
  CHECK(exit_code(victim) == 128 + SIGKILL);
}

TEST_CASE("a process of another user is turned away at both ends") {
  if (geteuid() != 0) {
    WARN("skipped: only root can become another user");
    return;
  }
  Served served = serve();
  const pid_t other = forked([&] {
    if (seteuid(65534) != 0) return 9;
    const Outcome outcome = join_once(served.id, team(1)[0]);
    return outcome.code == hcommInvalidUsage && outcome.text.find("served by user 0") != std::string::npos ? 0 : 1;
  });
  CHECK(exit_code(other) == 0);
  CHECK(eventually([&] { return served.warnings->load() > 0; }));
  CHECK(join_once(served.id, team(1)[0]).code == hcommSuccess);
}

TEST_CASE("a child of a fork that lets go does not hide its parent's end") {
  Served served = serve();
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = forked([&] {
    served.coordinator->abandon_in_child();
    close(pipe_ends[1]);
    char unused = 0;
    return static_cast<int>(read(pipe_ends[0], &unused, 1));
  });
  close(pipe_ends[0]);
  served.coordinator.reset();
  const Outcome refused = join_once(served.id, team(1)[0]);
  close(pipe_ends[1]);
  CHECK(refused.code == hcommRemoteError);
  CHECK(exit_code(child) == 0);
}

TEST_CASE("the coordinator's thread takes no signal") {
  Served served = serve({.ranks = 1, .many_rounds = true, .make_segment = [](int) -> Result<int> {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    const bool all = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGUSR1) == 1;
    return Status::failure(hcommInternalError, all ? "all blocked" : "some open");
  }});
  CHECK_THAT(join_once(served.id, team(1)[0]).text, Contains("all blocked"));
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK(sigismember(&own, SIGTERM) == 0);
}

}  // namespace
}  // namespace hcomm
