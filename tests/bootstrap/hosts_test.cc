// Goal: the same between processes: many of them, some that die, and real networks. Method: children that report by their exit
// code; two network namespaces that a pair of virtual interfaces connects, which the test makes and removes.
#include "bootstrap/group_share.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/child.h"
#include "rig.h"

namespace hcomm {
namespace {

using testing::exit_code;
using testing::forked;

int outcome_of(const Outcome& outcome, std::size_t group, bool has_segment) {
  if (outcome.code != hcommSuccess) return 1;
  if (outcome.meeting.local_ranks.size() != group) return 2;
  return outcome.meeting.segment.open() == has_segment ? 0 : 3;
}

// Processes that are forked before there is a coordinator, whose thread may hold locks, and told the id afterwards.
class Ranks {
 public:
  template <class Body>
  Ranks(std::size_t count, Body body) {
    for (std::size_t rank = 0; rank < count; ++rank) {
      int ends[2];
      REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
      Descriptor reader(ends[0]);
      tell_.emplace_back(ends[1]);
      pids_.push_back(forked([&] {
        JobIdBytes bytes;
        if (read(reader.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return 80;
        return body(job_id_from_bytes(bytes).value(), rank);
      }));
    }
  }

  void tell(const JobId& id) const {
    const JobIdBytes bytes = to_bytes(id);
    for (const Descriptor& each : tell_) REQUIRE(write(each.get(), bytes.data(), bytes.size()) == sizeof bytes);
  }
  pid_t pid(std::size_t place) const { return pids_[place]; }
  void check_all_well() const {
    for (const pid_t pid : pids_) CHECK(exit_code(pid) == 0);
  }

 private:
  std::vector<Descriptor> tell_;
  std::vector<pid_t> pids_;
};

Served serve_tcp() {
  CoordinatorOptions options;
  options.listen_at = {loopback()};
  return serve(std::move(options));
}

TEST_CASE("64 processes meet over TCP, as 16 hosts of 4, as one host, and as 64 hosts") {
  for (const int per_host : {4, 64, 1}) {
    std::vector<std::string> hosts;
    for (int rank = 0; rank < 64; ++rank) hosts.push_back(std::to_string(rank / per_host));
    const Ranks ranks(hosts.size(), [&](const JobId& id, std::size_t rank) {
      Keeper keeper;
      const Outcome outcome = join_once(id, team_on_hosts(hosts, keeper)[rank]);
      return outcome_of(outcome, static_cast<std::size_t>(per_host), per_host > 1);
    });
    const Served served = serve_tcp();
    ranks.tell(served.id);
    ranks.check_all_well();
  }
}

TEST_CASE("64 processes meet over the Unix socket") {
  const Ranks ranks(64, [](const JobId& id, std::size_t rank) { return outcome_of(join_once(id, team(64)[rank]), 64, true); });
  const Served served = serve();
  ranks.tell(served.id);
  ranks.check_all_well();
}

TEST_CASE("a process that dies while it waits is named to ranks of other hosts, at once") {
  Keeper keeper;
  const std::vector<std::string> hosts = {"a", "b", "c"};
  const Ranks victim(1, [&](const JobId& id, std::size_t) {
    return outcome_of(join_once(id, team_on_hosts(hosts, keeper)[1]), 1, false);
  });
  const Served served = serve_tcp();
  victim.tell(served.id);
  JoinOptions survivor = team_on_hosts(hosts, keeper)[0];
  survivor.progress_every_ns = 10 * kMillisecond;
  bool killed = false;
  survivor.progress = [&](std::string_view line) {
    if (killed || line.find("2 of 3 ranks arrived") == std::string_view::npos) return;
    killed = kill(victim.pid(0), SIGKILL) == 0;
  };
  const Outcome outcome = join_once(served.id, survivor);
  CHECK(killed);
  CHECK(outcome.code == hcommRemoteError);
  CHECK_THAT(outcome.text, Catch::Matchers::Contains("rank 1 (pid " + std::to_string(victim.pid(0)) + ") left"));
  CHECK(exit_code(victim.pid(0)) == 128 + SIGKILL);
}

// Two network namespaces, each with one end of a cable. Gone with the test.
class Cable {
 public:
  Cable() {
    made_ = run("ip netns add " + space(0)) && run("ip netns add " + space(1)) &&
            run("ip link add hcv0 netns " + space(0) + " type veth peer name hcv1 netns " + space(1));
    for (int end = 0; end < 2; ++end) {
      const std::string in = "ip -n " + space(end) + " ";
      const std::string link = "hcv" + std::to_string(end);
      made_ = made_ && run(in + "addr add 192.0.2." + std::to_string(end + 1) + "/24 dev " + link) &&
              run(in + "link set " + link + " up") && run(in + "link set lo up");
    }
  }
  ~Cable() {
    for (int end = 0; end < 2; ++end) run("ip netns del " + space(end));
  }
  Cable(const Cable&) = delete;
  Cable& operator=(const Cable&) = delete;

  bool made() const { return made_; }
  void enter(int end) const {
    const Descriptor there(open(("/run/netns/" + space(end)).c_str(), O_RDONLY | O_CLOEXEC));
    if (!there.open() || setns(there.get(), CLONE_NEWNET) != 0) _exit(90);
  }

 private:
  static bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
  std::string space(int end) const { return "hcomm-" + std::to_string(maker_) + "-" + std::to_string(end); }

  const pid_t maker_ = getpid();
  bool made_ = false;
};

TEST_CASE("B044 ranks that are interleaved over two network namespaces meet over the cable between them") {
  const Cable cable;
  if (!cable.made()) {
    WARN("skipped: this user may not make network namespaces, or there is no ip");
    return;
  }
  JobId job = make_job_id().value();
  job.at = {parse_address("192.0.2.1:7000").value()};
  const std::vector<std::string> hosts = {"a", "b", "a", "b", "b"};
  std::vector<pid_t> children;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const int end = hosts[rank] == "a" ? 0 : 1;
    children.push_back(forked([&] {
      cable.enter(end);
      Keeper keeper;
      if (rank == 0) {
        CoordinatorOptions serving{.ranks = 5, .many_rounds = true, .make_segment = [](int) -> Result<int> { return -1; }};
        serving.listen_at = job.at;
        Result<std::unique_ptr<Coordinator>> coordinator = start_coordinator(job, std::move(serving));
        if (!coordinator.ok()) return 91;
        keeper.keep(std::move(coordinator).value());
      }
      JoinOptions options = team_on_hosts(hosts, keeper)[rank];
      options.host_is_told = false;
      options.server = Absent::may_come;
      options.listen_at = {parse_address(end == 0 ? "192.0.2.1:0" : "192.0.2.2:0").value()};
      return outcome_of(join_once(job, options), end == 0 ? 2 : 3, true);
    }));
  }
  for (const pid_t child : children) CHECK(exit_code(child) == 0);
}

}  // namespace
}  // namespace hcomm
