// Goal: what a process is told becomes the right meeting. Method: ids that this process serves, met over loopback by threads that
// are told different hosts.
#include "comm/meet.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "comm/coordinators.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

Settings on_loopback(const std::string& host_id = "") {
  Settings settings;
  settings.socket_ifname = "=lo";
  settings.socket_family = SocketFamily::inet;
  settings.connect_timeout_ns = 30 * kSecond;
  settings.host_id = host_id;
  return settings;
}

struct Met {
  std::string wrong;
  Meeting meeting;
};

// All ranks of the job, each told its host, for this round.
std::vector<Met> meet_all(const JobId& job, const std::vector<std::string>& hosts, std::uint64_t round = 0, bool many = false) {
  std::vector<Met> met(hosts.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    threads.emplace_back([&, rank] {
      Result<Meeting> meeting = meet({.job = job,
                                      .rank = static_cast<int>(rank),
                                      .ranks = static_cast<int>(hosts.size()),
                                      .round = round,
                                      .many_rounds = many,
                                      .addresses = {}},
                                     {.settings = on_loopback(hosts[rank]), .values = {}, .warnings = {}});
      if (meeting.ok()) met[rank].meeting = std::move(meeting).value();
      else met[rank].wrong = std::string(meeting.status().trail());
    });
  }
  for (std::thread& thread : threads) thread.join();
  return met;
}

ino_t inode_of(const Meeting& meeting) {
  struct stat facts {};
  return fstat(meeting.segment.get(), &facts) == 0 ? facts.st_ino : 0;
}

// Where nobody listened a moment ago.
Address free_address() {
  CoordinatorOptions options{.make_segment = [](int) -> Result<int> { return -1; }};
  options.listen_at = {parse_address("127.0.0.1:0").value()};
  return start_coordinator(make_job_id().value(), std::move(options)).value()->addresses().front();
}

TEST_CASE("an id that this process serves is met by ranks of this host and of others") {
  JobId job = make_job_id().value();
  REQUIRE(serve(job, on_loopback()).ok());
  REQUIRE_FALSE(job.at.empty());
  CHECK(text(job.at[0]).starts_with("127.0.0.1:"));
  const std::vector<Met> met = meet_all(job, {"", "other", "", "other", "third"});
  for (const Met& each : met) {
    INFO(each.wrong);
    REQUIRE(each.wrong.empty());
    CHECK(each.meeting.members == met[0].meeting.members);
  }
  CHECK(met[0].meeting.local_ranks == std::vector{0, 2});
  CHECK(met[3].meeting.local_ranks == std::vector{1, 3});
  CHECK(inode_of(met[0].meeting) == inode_of(met[2].meeting));
  CHECK(inode_of(met[0].meeting) != inode_of(met[1].meeting));
  CHECK_FALSE(met[4].meeting.segment.open());
}

TEST_CASE("an id of a process that may not use tcp has no address, and serves this host alone") {
  JobId job = make_job_id().value();
  Settings settings = on_loopback();
  settings.transport = "shm";
  REQUIRE(serve(job, settings).ok());
  CHECK(job.at.empty());
  for (const Met& each : meet_all(job, {"", ""})) CHECK(each.wrong.empty());
}

TEST_CASE("the ranks of a host share one segment in all meetings of a run") {
  JobId run = make_job_id().value();
  run.at = {free_address()};
  REQUIRE(serve_run(run, 3, on_loopback(), 0).ok());
  const std::vector<std::string> hosts = {"left", "right", "right"};
  std::vector<ino_t> segments;
  for (std::uint64_t round = 0; round < 3; ++round) {
    const std::vector<Met> met = meet_all(run, hosts, round, true);
    for (const Met& each : met) {
      INFO(each.wrong);
      REQUIRE(each.wrong.empty());
    }
    CHECK(met[1].meeting.context == round);
    CHECK(inode_of(met[1].meeting) == inode_of(met[2].meeting));
    segments.push_back(inode_of(met[1].meeting));
  }
  CHECK(segments[0] == segments[1]);
  CHECK(segments[1] == segments[2]);
}

TEST_CASE("hosts are told apart by what the user says or, without it, by what they are") {
  CHECK(host_of(on_loopback()) == host_of(on_loopback()));
  CHECK(host_of(on_loopback("a")) == host_of(on_loopback("a")));
  CHECK(host_of(on_loopback("a")) != host_of(on_loopback("b")));
  CHECK(host_of(on_loopback("a")) != host_of(on_loopback()));
}

Launch launch_of(std::vector<std::string> rendezvous) {
  Launch launch;
  launch.job = make_job_id().value();
  launch.one_host = false;
  launch.rendezvous = std::move(rendezvous);
  return launch;
}

TEST_CASE("a run of several hosts needs a secret, or a network that is trusted") {
  const Launch launch = launch_of({"127.0.0.1:7000", "[::1]:7000"});
  const Result<JobId> refused = id_between_hosts(launch, on_loopback());
  CHECK(refused.status().code() == hcommInvalidUsage);
  CHECK_THAT(std::string(refused.status().trail()), Contains("HCOMM_SECRET_FILE") && Contains("HCOMM_TRUSTED_NET=1"));

  Settings trusting = on_loopback();
  trusting.trusted_net = true;
  const JobId trusted = id_between_hosts(launch, trusting).value();
  CHECK(trusted.name == launch.job.name);
  CHECK(trusted.secret == launch.job.secret);
  REQUIRE(trusted.at.size() == 2);
  CHECK(text(trusted.at[0]) == "127.0.0.1:7000");

  const std::string path = "/tmp/hcomm-meet-" + std::to_string(getpid());
  std::ofstream(path) << "a secret of many bytes";
  Settings secret = on_loopback();
  secret.secret_file = path;
  chmod(path.c_str(), 0644);
  CHECK_THAT(std::string(id_between_hosts(launch, secret).status().trail()), Contains("chmod 600"));
  chmod(path.c_str(), 0600);
  const Result<JobId> kept = id_between_hosts(launch, secret);
  unlink(path.c_str());
  REQUIRE(kept.ok());
  CHECK(kept.value().secret != launch.job.secret);
  CHECK(id_between_hosts(launch_of({"127.0.0.1:7000"}), trusting).value().secret != kept.value().secret);
}

TEST_CASE("rank 0 listens at the addresses that are its own, and at its interfaces where a name does not say") {
  const auto listens_at = [](const std::string& dialled) {
    const std::vector<Address> places = places_of({parse_address(dialled).value()}, on_loopback()).value();
    REQUIRE(places.size() == 1);
    return text(places[0]);
  };
  CHECK(listens_at("127.0.0.1:7000") == "127.0.0.1:7000");
  CHECK(listens_at("[::1]:7000") == "[::1]:7000");
  CHECK(listens_at("127.0.1.1:7000") == "127.0.0.1:7000");   // this host's name, as Debian has it: at the interfaces (here lo)
  CHECK(listens_at("192.0.2.7:7000") == "127.0.0.1:7000");   // a service's
}

}  // namespace
}  // namespace hcomm
