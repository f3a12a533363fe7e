// Goal: one thread drives many ranks under a clock of its own, and late, stuck and mismatch are told apart by that clock.
// Method: ranks that are nudged, or not; the clock stands still but when told. Nothing here waits or races.
#include <catch2/catch.hpp>

#include "comm/communicator.h"
#include "comm/open.h"
#include "world.h"

namespace hcomm {
namespace {

// The loopback transport, and how often it was asked about peers.
class Counting final : public Transport {
 public:
  Counting(std::unique_ptr<Transport> inner, int& inquiries) : inner_(std::move(inner)), inquiries_(inquiries) {}
  Channel& channel(int peer, Lane lane) override { return inner_->channel(peer, lane); }
  Window* window() override { return inner_->window(); }
  Board& board() override { return inner_->board(); }
  void alarm() override { inner_->alarm(); }
  Traffic traffic(int peer) const override { return inner_->traffic(peer); }
  void inquire() override { ++inquiries_; }
  int poll() override { return inner_->poll(); }
  void arm() override { inner_->arm(); }
  void sleep(TimeNs most) override { inner_->sleep(most); }
  void disarm() override { inner_->disarm(); }

 private:
  const std::unique_ptr<Transport> inner_;
  int& inquiries_;
};

class Puppets {
 public:
  Puppets(int ranks, const char* algo, TimeNs timeout = 60 * kSecond) : sums_(static_cast<std::size_t>(ranks)) {
    Settings settings;
    settings.algo = algo;
    settings.timeout_ns = timeout;
    settings.peer_timeout_ns = 10 * kSecond;
    auto opened = open_all("loopback", {.ranks = ranks}, {.slots = 2, .slot_bytes = 4096, .ring_bytes = 4096});
    testing::require(opened.status());
    for (int rank = 0; rank < ranks; ++rank) {
      Membership membership{.rank = rank, .ranks = ranks, .settings = settings};
      membership.transport =
          std::make_unique<Counting>(std::move(opened.value()[static_cast<std::size_t>(rank)]), inquiries);
      membership.clock = &clock;
      made_.push_back(std::make_unique<Communicator>(std::move(membership)));
      testing::require(made_.back()->begin_agreement());
    }
    nudge_all(1000);
    for (const auto& each : made_) testing::require(each->finish_agreement());
  }

  void call(int rank, std::size_t count = 1) {
    Sum& sum = sums_[static_cast<std::size_t>(rank)];
    made_[static_cast<std::size_t>(rank)]->queue({.collective = Collective::allreduce,
                                                  .send = sum.send,
                                                  .recv = sum.recv,
                                                  .count = count,
                                                  .dtype = hcommInt32});
  }

  // One turn of each that is in `awake`; the clock moves on by 50 ms. Remembers how one failed.
  void turn(std::initializer_list<int> awake) {
    for (const int rank : awake) {
      const auto nudged = made_[static_cast<std::size_t>(rank)]->nudge();
      if (!nudged.ok()) last_code = nudged.status().code();
    }
    clock.advance(50 * kMillisecond);
  }
  void nudge_all(int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      bool all_done = true;
      for (const auto& each : made_) {
        const auto nudged = each->nudge();
        testing::require(nudged.status());
        all_done = all_done && nudged.value();
      }
      if (all_done) return;
    }
    throw std::runtime_error("not done");
  }
  int result(int rank) const { return sums_[static_cast<std::size_t>(rank)].recv[0]; }
  std::string text(int rank) const { return made_[static_cast<std::size_t>(rank)]->failure_text(); }

  ManualClock clock;
  hcommResult_t last_code = hcommSuccess;
  int inquiries = 0;  // of all ranks

 private:
  struct Sum {
    int send[2] = {1, 1};
    int recv[2] = {0, 0};
  };
  std::vector<std::unique_ptr<Communicator>> made_;
  std::vector<Sum> sums_;
};

}  // namespace

TEST_CASE("one thread runs all ranks by nudging them") {
  for (const char* const algo : {"flat", "ring", "adaptive"}) {
    Puppets ranks(4, algo);
    for (int round = 0; round < 3; ++round) {
      for (int rank = 0; rank < 4; ++rank) ranks.call(rank);
      ranks.nudge_all(1000);
      for (int rank = 0; rank < 4; ++rank) CHECK(ranks.result(rank) == 4);
    }
  }
}

TEST_CASE("a late rank is waited for until HCOMM_TIMEOUT, and all name it, also those who wait for each other") {
  for (const char* const algo : {"flat", "ring"}) {
    Puppets ranks(4, algo);
    for (const int rank : {0, 1, 3}) ranks.call(rank);
    const TimeNs start = ranks.clock.now();
    while (ranks.last_code == hcommSuccess) ranks.turn({0, 1, 3});
    CHECK(ranks.last_code == hcommTimeout);
    CHECK(ranks.clock.now() - start > 59 * kSecond);
    CHECK(ranks.clock.now() - start < 62 * kSecond);
    ranks.turn({0, 1, 3});
    for (const int rank : {0, 1, 3}) {
      INFO(algo << ", rank " << rank);
      CHECK_THAT(ranks.text(rank), Catch::Contains("rank 2 (pid") && Catch::Contains(") did not come in time") &&
                                       Catch::Contains("its latest call is the first meeting"));
    }
  }
}

TEST_CASE("several late ranks are all named") {
  Puppets ranks(4, "ring");
  ranks.call(0);
  while (ranks.last_code == hcommSuccess) ranks.turn({0});
  CHECK_THAT(ranks.text(0), Catch::Contains("rank 1 (pid") && Catch::Contains("), 2, 3 did not come in time"));
}

TEST_CASE("a wait without progress asks about the peers after 100 ms, and again after as long") {
  Puppets ranks(2, "ring");
  ranks.inquiries = 0;
  ranks.call(0);
  ranks.turn({0});  // begins
  ranks.turn({0});  // looks at the clock for the first time, at 0 ms of the wait
  ranks.turn({0});
  CHECK(ranks.inquiries == 0);
  ranks.turn({0});  // 100 ms
  CHECK(ranks.inquiries == 1);
  for (int turn = 0; turn < 20; ++turn) ranks.turn({0});  // a second more
  CHECK(ranks.inquiries == 11);
}

TEST_CASE("without HCOMM_TIMEOUT a late rank is waited for as long as it takes") {
  for (const char* const algo : {"flat", "ring"}) {
    Puppets ranks(4, algo, kNever);
    for (const int rank : {0, 1, 3}) ranks.call(rank);
    for (int turn = 0; turn < 5000; ++turn) ranks.turn({0, 1, 3});
    CHECK(ranks.last_code == hcommSuccess);
    ranks.call(2);
    ranks.nudge_all(1000);
    for (int rank = 0; rank < 4; ++rank) CHECK(ranks.result(rank) == 4);
  }
}

TEST_CASE("a rank that stands still in the call is stuck, and all name it; those who wait for it are not") {
  Puppets ranks(4, "ring", kNever);
  for (const int rank : {0, 1, 2, 3}) ranks.call(rank);
  ranks.turn({2});
  const TimeNs start = ranks.clock.now();
  while (ranks.last_code == hcommSuccess) ranks.turn({0, 1, 3});
  CHECK(ranks.last_code == hcommTimeout);
  CHECK(ranks.clock.now() - start > 10 * kSecond);
  CHECK(ranks.clock.now() - start < 12 * kSecond);
  ranks.turn({0, 1, 3});
  for (const int rank : {0, 1, 3}) {
    INFO("rank " << rank);
    CHECK_THAT(ranks.text(rank), Catch::Contains("rank 2 (pid") && Catch::Contains("is stuck"));
  }
  for (int turn = 0; turn < 10; ++turn) ranks.turn({2});
  CHECK_THAT(ranks.text(2), Catch::Contains("is stuck"));  // should it ever wake up, it learns of it
}

TEST_CASE("another call is a mismatch at once, by any clock") {
  for (const char* const algo : {"flat", "ring"}) {
    Puppets ranks(3, algo);
    ranks.call(0);
    ranks.call(1, 2);
    ranks.call(2);
    for (int turn = 0; turn < 4; ++turn) ranks.turn({0, 1, 2});
    for (const int rank : {0, 1, 2}) {
      CHECK_THAT(ranks.text(rank), Catch::Contains("operation 0 is allreduce(count 1, int32, sum)") &&
                                       Catch::Contains("allreduce(count 2, int32, sum) on rank 1"));
    }
  }
}

}  // namespace hcomm
