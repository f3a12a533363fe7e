// Goal: ranks of several hosts meet over TCP, or learn why not, all of them. Method: ranks as threads, each told its host, over
// loopback.
#include "bootstrap/attendant.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <thread>

#include "bootstrap/group_share.h"
#include "rig.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

Served serve_tcp(CoordinatorOptions options = {}) {
  options.listen_at = {loopback()};
  return serve(std::move(options));
}

// All know the same members; ranks of one host have one segment, the others none of theirs.
void check_all_met(const std::vector<Outcome>& outcomes, const std::vector<std::string>& hosts) {
  std::map<std::string, std::set<unsigned long>> segments;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const Outcome& outcome = outcomes[rank];
    INFO("rank " << rank << ": " << outcome.text);
    REQUIRE(outcome.code == hcommSuccess);
    CHECK(outcome.meeting.members == outcomes[0].meeting.members);
    std::vector<int> group;
    for (std::size_t other = 0; other < hosts.size(); ++other) {
      if (hosts[other] == hosts[rank]) group.push_back(static_cast<int>(other));
    }
    CHECK(outcome.meeting.local_ranks == group);
    CHECK(outcome.meeting.segment.open() == (group.size() > 1));
    if (group.size() > 1) segments[hosts[rank]].insert(inode_of(outcome.meeting.segment));
  }
  std::set<unsigned long> all;
  for (const auto& [host, inodes] : segments) {
    CHECK(inodes.size() == 1);
    all.insert(inodes.begin(), inodes.end());
  }
  CHECK(all.size() == segments.size());
}

TEST_CASE("ranks of several hosts meet, each host with a segment of its own") {
  for (const std::vector<std::string>& hosts : std::vector<std::vector<std::string>>{
           {"a", "b"}, {"a", "a", "b", "b"}, {"a", "b", "a", "b", "c"}, {"a", "a", "a"}, {"a"},
           {"a", "b", "c", "d", "e", "f", "g"}}) {
    Keeper keeper;
    Served served = serve_tcp();
    check_all_met(join_all(served.id, team_on_hosts(hosts, keeper)), hosts);
    CHECK(served.segments_made->load() == 0);
    CHECK(eventually([&] { return served.coordinator->finished(); }));
  }
}

TEST_CASE("ranks of the coordinator's host come by the socket, the others over the network, into one meeting") {
  Keeper keeper;
  Served served = serve_tcp();
  served.id.host = host_id("here");
  std::vector<JoinOptions> options = team_on_hosts({"here", "there", "here", "elsewhere", "there"}, keeper);
  options[0].host_is_told = options[2].host_is_told = false;  // found out
  check_all_met(join_all(served.id, options), {"here", "there", "here", "elsewhere", "there"});
}

TEST_CASE("without anybody of another host there is one segment and no route, though there are addresses") {
  Served served = serve_tcp();
  for (const Outcome& outcome : join_all(served.id, team(3))) {
    CHECK(outcome.code == hcommSuccess);
    CHECK(outcome.meeting.one_host());
  }
  CHECK(served.segments_made->load() == 1);
}

TEST_CASE("40 ranks on 20 hosts meet, again and again") {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < 40; ++rank) hosts.push_back("host " + std::to_string(rank % 20));
  Keeper keeper;
  Served served = serve_tcp({.ranks = 40, .many_rounds = true});
  for (std::uint64_t round = 0; round < 3; ++round) {
    const std::vector<Outcome> outcomes = join_all(served.id, team_on_hosts(hosts, keeper, 20 * kSecond, round));
    check_all_met(outcomes, hosts);
    CHECK(outcomes[7].meeting.context == round);
  }
}

TEST_CASE("the coordinator is waited for, over the network too") {
  Keeper keeper;
  JobId id = make_job_id().value();
  {
    Served probe = serve_tcp();  // a port that is free
    id.at = probe.id.at;
  }
  std::vector<JoinOptions> options = team_on_hosts({"a", "b"}, keeper);
  for (JoinOptions& rank : options) rank.server = Absent::may_come;
  std::unique_ptr<Coordinator> coordinator;
  std::thread late([&] {
    usleep(100'000);
    CoordinatorOptions late_options{.ranks = 2, .many_rounds = true, .make_segment = [](int) -> Result<int> { return -1; }};
    late_options.listen_at = id.at;
    coordinator = start_coordinator(id, std::move(late_options)).value();
  });
  check_all_met(join_all(id, options), {"a", "b"});
  late.join();
}

TEST_CASE("nobody at the addresses is an error at once, or when the time is up") {
  JobId id = make_job_id().value();
  Keeper keeper;
  {
    Served probe = serve_tcp();
    id.at = probe.id.at;
  }
  JoinOptions options = team_on_hosts({"a", "b"}, keeper, 200 * kMillisecond)[1];
  const Outcome at_once = join_once(id, options);
  CHECK(at_once.code == hcommRemoteError);
  CHECK_THAT(at_once.text, Contains("nobody serves this id") && Contains(text(id.at[0])) && Contains("refused"));
  options.server = Absent::may_come;
  const Outcome late = join_once(id, options);
  CHECK(late.code == hcommTimeout);
  CHECK_THAT(late.text, Contains("within 200 ms") && Contains(text(id.at[0])));
}

TEST_CASE("over the network, too, every rank learns who is missing") {
  Keeper keeper;
  Served served = serve_tcp();
  std::vector<JoinOptions> options = team_on_hosts({"a", "b", "c", "a"}, keeper, 10 * kSecond);
  options.erase(options.begin() + 2);
  options[0].timeout_ns = 150 * kMillisecond;
  for (const Outcome& outcome : join_all(served.id, options)) {
    CHECK(outcome.code == hcommTimeout);
    CHECK_THAT(outcome.text, Contains("3 of 4 ranks arrived within 150 ms; missing: 2"));
    CHECK(outcome.took_ns < 5 * kSecond);
  }
  const Outcome late = join_once(served.id, team_on_hosts({"a", "b", "c", "a"}, keeper)[2]);
  CHECK(late.code == hcommTimeout);
  CHECK_THAT(late.text, Contains("failed already") && Contains("missing: 2"));
}

TEST_CASE("over the network, too, settings and sizes that differ are named") {
  for (const bool sizes : {false, true}) {
    Keeper keeper;
    Served served = serve_tcp();
    std::vector<JoinOptions> options = team_on_hosts({"a", "b", "c"}, keeper);
    for (JoinOptions& rank : options) rank.agreement = "HCOMM_ALGO=adaptive;HCOMM_SLOTS=2";
    if (sizes) options[1].ranks = 4;
    else options[1].agreement = "HCOMM_ALGO=ring;HCOMM_SLOTS=2";
    for (const Outcome& outcome : join_all(served.id, options)) {
      CHECK(outcome.code == hcommMismatch);
      CHECK(outcome.took_ns < 5 * kSecond);
      if (sizes) CHECK_THAT(outcome.text, Contains("do not agree on how many they are"));
      else CHECK_THAT(outcome.text, Contains("'ring' on rank 1") && Contains("'adaptive' on rank"));
    }
  }
}

TEST_CASE("a wrong secret is named where it is held, and harms nobody") {
  Keeper keeper;
  Served served = serve_tcp();
  JobId wrong = served.id;
  wrong.secret[0] ^= std::byte{1};
  const Outcome refused = join_once(wrong, team_on_hosts({"a", "b"}, keeper)[0]);
  CHECK(refused.code == hcommRemoteError);
  CHECK_THAT(refused.text, Contains("secret"));
  CHECK(refused.took_ns < 5 * kSecond);
  check_all_met(join_all(served.id, team_on_hosts({"a", "b"}, keeper)), {"a", "b"});
}

TEST_CASE("a host whose segment cannot be made is every rank's error, with the rank") {
  Keeper keeper;
  Served served = serve_tcp();
  std::vector<JoinOptions> options = team_on_hosts({"a", "b", "b", "a", "c"}, keeper);
  options[1].make_segment = []() -> Result<int> { return Status::failure(hcommOutOfMemory, "no room for 64 MiB"); };
  for (const Outcome& outcome : join_all(served.id, options)) {
    CHECK(outcome.code == hcommOutOfMemory);
    CHECK_THAT(outcome.text, Contains("rank 1 (pid") && Contains("no room for 64 MiB"));
  }
}

TEST_CASE("descriptors and threads are as many after meetings of several hosts as before") {
  const int descriptors = open_descriptors();
  const int threads = running_threads();
  for (int turn = 0; turn < 5; ++turn) {
    Keeper keeper;
    Served served = serve_tcp();
    std::vector<JoinOptions> options = team_on_hosts({"a", "a", "b", "c", "d"}, keeper, 200 * kMillisecond);
    if (turn % 2 == 1) options.pop_back();
    join_all(served.id, options);
  }
  CHECK(eventually([&] { return open_descriptors() == descriptors; }));
  CHECK(eventually([&] { return running_threads() == threads; }));
}

}  // namespace
}  // namespace hcomm
