// Goal: ranks meet or learn why not, all of them, in time. Method: ranks as threads around a real coordinator.
#include "bootstrap/join.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "bootstrap/server.h"
#include "rig.h"

namespace hcomm {
namespace {

using Catch::Matchers::Contains;

void check_all_met(const std::vector<Outcome>& outcomes) {
  std::set<unsigned long> segments;
  for (const Outcome& outcome : outcomes) {
    INFO(outcome.text);
    REQUIRE(outcome.code == hcommSuccess);
    REQUIRE(outcome.meeting.members.size() == outcomes.size());
    for (const Member& member : outcome.meeting.members) CHECK(member.facts.pid == getpid());
    segments.insert(inode_of(outcome.meeting.segment));
  }
  CHECK(segments.size() == 1);
}

TEST_CASE("ranks meet once by a unique id, and the coordinator ends on its own") {
  for (const int ranks : {1, 2, 5}) {
    Served served = serve();
    check_all_met(join_all(served.id, team(ranks)));
    CHECK(served.segments_made->load() == 1);
    CHECK(eventually([&] { return served.coordinator->finished(); }));
  }
}

TEST_CASE("all ranks learn the same hosts and addresses") {
  Served served = serve();
  std::vector<JoinOptions> options = team(4);
  for (const std::size_t rank : {1u, 3u}) {
    options[rank].host = host_id("another");
    options[rank].host_is_told = true;
  }
  options[3].addresses = {{.family = Family::inet6, .port = 9, .bytes = host_id("any")}};
  const std::vector<Outcome> outcomes = join_all(served.id, options);
  check_all_met(outcomes);
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.meeting.members[3].facts.addresses == options[3].addresses);
    CHECK(outcome.meeting.members == outcomes[0].meeting.members);
    CHECK_FALSE(outcome.meeting.one_host());
    CHECK(outcome.meeting.times.arrived_ns > 0);
  }
  CHECK(outcomes[0].meeting.local_ranks == std::vector{0, 2});
  CHECK(outcomes[3].meeting.local_ranks == std::vector{1, 3});
}

TEST_CASE("64 ranks that come at once all meet") {
  Served served = serve();
  check_all_met(join_all(served.id, team(64)));
}

TEST_CASE("a launcher's job meets again and again in one segment, with the round as context") {
  Served served = serve({.ranks = 3, .many_rounds = true});
  unsigned long segment = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::vector<Outcome> outcomes = join_all(served.id, team(3, 20 * kSecond, round));
    check_all_met(outcomes);
    CHECK(outcomes[0].meeting.context == round);
    if (segment == 0) segment = inode_of(outcomes[0].meeting.segment);
    CHECK(inode_of(outcomes[0].meeting.segment) == segment);
  }
  CHECK(served.segments_made->load() == 1);
}

TEST_CASE("rounds of one job may be open at once") {
  Served served = serve({.ranks = 2, .many_rounds = true});
  std::vector<JoinOptions> options;
  for (std::uint64_t round = 0; round < 8; ++round) {
    for (const JoinOptions& rank : team(2, 20 * kSecond, round)) options.push_back(rank);
  }
  for (const Outcome& outcome : join_all(served.id, options)) CHECK(outcome.code == hcommSuccess);
}

TEST_CASE("at a timeout every rank learns who is missing") {
  Served served = serve();
  std::vector<JoinOptions> options = team(4, 10 * kSecond);
  options.erase(options.begin() + 2);
  options[0].timeout_ns = 150 * kMillisecond;  // the first to give up ends it for all
  for (const Outcome& outcome : join_all(served.id, options)) {
    CHECK(outcome.code == hcommTimeout);
    CHECK_THAT(outcome.text, Contains("3 of 4 ranks arrived within 150 ms; missing: 2"));
    CHECK(outcome.took_ns < 5 * kSecond);
  }
  JoinOptions late = team(4)[2];
  const Outcome refused = join_once(served.id, late);
  CHECK(refused.code == hcommTimeout);
  CHECK_THAT(refused.text, Contains("failed already") && Contains("missing: 2"));
}

TEST_CASE("who waits long is told whom it waits for") {
  Served served = serve();
  std::vector<JoinOptions> options = team(2, 400 * kMillisecond);
  options.pop_back();
  std::vector<std::string> lines;
  options[0].progress_every_ns = 50 * kMillisecond;
  options[0].progress = [&](std::string_view line) { lines.emplace_back(line); };
  CHECK(join_once(served.id, options[0]).code == hcommTimeout);
  REQUIRE_FALSE(lines.empty());
  CHECK_THAT(lines[0],
             Contains("rank 0 has waited") && Contains("of at most 400 ms") && Contains("1 of 2 ranks arrived; missing: 1"));
}

TEST_CASE("late ranks are simply waited for") {
  Served served = serve();
  std::vector<Outcome> outcomes(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      usleep(static_cast<useconds_t>(rank) * 60'000);
      outcomes[static_cast<std::size_t>(rank)] = join_once(served.id, team(3)[static_cast<std::size_t>(rank)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  check_all_met(outcomes);
}

TEST_CASE("sizes that differ, 3 and 4, are named on every rank that has come") {
  Served served = serve();
  std::vector<JoinOptions> options = team(3);
  options.pop_back();
  options.push_back(team(4)[3]);
  int named = 0;
  for (const Outcome& outcome : join_all(served.id, options)) {
    CHECK(outcome.code == hcommMismatch);
    CHECK(outcome.took_ns < 5 * kSecond);
    named += outcome.text.find("do not agree on how many they are") != std::string::npos ? 1 : 0;
    CHECK_THAT(outcome.text, Contains("3") && Contains("4"));
  }
  CHECK(named == 3);
}

TEST_CASE("settings that differ name the variable, both values and both ranks") {
  Served served = serve();
  std::vector<JoinOptions> options = team(3);
  for (JoinOptions& rank : options) rank.agreement = "HCOMM_ALGO=adaptive;HCOMM_SLOTS=2";
  options[1].agreement = "HCOMM_ALGO=ring;HCOMM_SLOTS=2";
  for (const Outcome& outcome : join_all(served.id, options)) {
    CHECK(outcome.code == hcommMismatch);
    CHECK_THAT(outcome.text, Contains("HCOMM_ALGO") && Contains("'ring' on rank 1") && Contains("'adaptive' on rank"));
  }
}

TEST_CASE("a duplicate is refused fast and the others meet") {
  Served served = serve();
  std::atomic<bool> arrived{false};
  JoinOptions original = team(2)[0];
  original.progress_every_ns = 5 * kMillisecond;
  original.progress = [&](std::string_view) { arrived = true; };
  Outcome first;
  std::thread waiting([&] { first = join_once(served.id, original); });
  CHECK(eventually([&] { return arrived.load(); }));
  const Outcome duplicate = join_once(served.id, team(2)[0]);
  CHECK(duplicate.code == hcommInvalidUsage);
  CHECK(duplicate.took_ns < 5 * kSecond);
  CHECK_THAT(duplicate.text, Contains("rank 0 has joined already"));
  CHECK(join_once(served.id, team(2)[1]).code == hcommSuccess);
  waiting.join();
  CHECK(first.code == hcommSuccess);
}

TEST_CASE("an extra process of a launcher's job is told that it is one too many") {
  Served served = serve({.ranks = 2, .many_rounds = true});
  check_all_met(join_all(served.id, team(2)));
  const Outcome extra = join_once(served.id, team(2)[1]);
  CHECK(extra.code == hcommInvalidUsage);
  CHECK_THAT(extra.text, Contains("one too many"));
}

TEST_CASE("a rank out of range and a size out of range are refused before anybody is asked") {
  Served served = serve();
  for (const auto& [rank, ranks] :
       {std::pair{-1, 2}, std::pair{2, 2}, std::pair{0, 0}, std::pair{0, -3}, std::pair{0, kMaxMeetingRanks + 1}}) {
    const Outcome refused = join_once(served.id, {.rank = rank, .ranks = ranks});
    CHECK(refused.code == hcommInvalidArgument);
    CHECK_THAT(refused.text, Contains("legal are"));
  }
  const Outcome refused = join_once(served.id, {.agreement = std::string(kMaxAgreementBytes + 1, 'x')});
  CHECK(refused.code == hcommInvalidArgument);
}

TEST_CASE("an id is spent after its meeting, and an id whose maker is gone is refused at once") {
  Served served = serve();
  check_all_met(join_all(served.id, team(2)));
  REQUIRE(eventually([&] { return served.coordinator->finished(); }));
  for (const bool destroyed : {false, true}) {
    if (destroyed) served.coordinator.reset();
    const Outcome refused = join_once(served.id, team(2)[0]);
    CHECK(refused.code == hcommRemoteError);
    CHECK(refused.took_ns < 5 * kSecond);
    CHECK_THAT(refused.text, Contains("nobody serves this id"));
  }
}

TEST_CASE("a segment that cannot be made is every rank's error") {
  Served served = serve({.make_segment = [](int) -> Result<int> {
    return Status::failure(hcommOutOfMemory, "no room for 64 MiB");
  }});
  for (const Outcome& outcome : join_all(served.id, team(3))) {
    CHECK(outcome.code == hcommOutOfMemory);
    CHECK_THAT(outcome.text, Contains("no room for 64 MiB"));
  }
}

TEST_CASE("a coordinator that ends is an error for who waits") {
  Served served = serve();
  Outcome outcome;
  std::thread waiting([&] { outcome = join_once(served.id, team(2)[0]); });
  usleep(50'000);
  served.coordinator.reset();
  waiting.join();
  CHECK(outcome.code == hcommRemoteError);
  CHECK(outcome.took_ns < 5 * kSecond);
}

TEST_CASE("twenty jobs at once never mix") {
  std::vector<Served> jobs;
  for (int job = 0; job < 20; ++job) jobs.push_back(serve());
  std::vector<std::vector<Outcome>> outcomes(jobs.size());
  std::vector<std::thread> threads;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    threads.emplace_back([&, job] { outcomes[job] = join_all(jobs[job].id, team(2)); });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<unsigned long> segments;
  for (const std::vector<Outcome>& job : outcomes) {
    check_all_met(job);
    segments.insert(inode_of(job[0].meeting.segment));
  }
  CHECK(segments.size() == jobs.size());
}

TEST_CASE("descriptors and threads are as many afterwards as before") {
  const int descriptors = open_descriptors();
  const int threads = running_threads();
  for (int turn = 0; turn < 10; ++turn) {
    Served served = serve({.ranks = 4, .many_rounds = turn % 2 == 0});
    std::vector<JoinOptions> options = team(4, 100 * kMillisecond);
    if (turn % 3 == 0) options.pop_back();
    join_all(served.id, options);
  }
  CHECK(open_descriptors() == descriptors);
  CHECK(eventually([&] { return running_threads() == threads; }));
}

}  // namespace
}  // namespace hcomm
