#include "comm/drivers.h"

#include <catch2/catch.hpp>

#include <thread>

namespace hcomm {

TEST_CASE("a rank that has its thread for itself waits for nobody") {
  const auto seats = make_seats(1);
  REQUIRE(seats.size() == 1);
  seats[0]->take();
  CHECK(seats[0]->await_others(0).ok());
}

TEST_CASE("a thread that drives two ranks is refused, and told what to do") {
  const auto seats = make_seats(3);
  for (int turn = 0; turn < 2; ++turn) {
    seats[1]->take();
    const Status status = seats[1]->await_others(kMillisecond);
    CHECK(status.code() == hcommInvalidUsage);
    CHECK_THAT(std::string(status.trail()), Catch::Contains("rank 1 and rank 0 are driven by the same thread") &&
                                                Catch::Contains("hcommGroupStart"));
  }
}

TEST_CASE("it is not refused once other threads have taken the other ranks") {
  const auto seats = make_seats(3);
  std::thread([&] { seats[0]->take(); }).join();
  CHECK_THAT(std::string(seats[1]->await_others(kMillisecond).trail()), Catch::Contains("rank 1 and rank 2"));
  std::thread([&] { seats[2]->take(); }).join();
  CHECK(seats[1]->await_others(0).ok());
}

TEST_CASE("the other threads may come while it waits, and wait themselves") {
  const auto seats = make_seats(3);
  Status ends[3];
  std::vector<std::thread> threads;
  for (std::size_t rank = 1; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      seats[rank]->take();
      ends[rank] = seats[rank]->await_others(60 * kSecond);
    });
  }
  seats[0]->take();
  ends[0] = seats[0]->await_others(60 * kSecond);
  for (std::thread& thread : threads) thread.join();
  for (const Status& end : ends) CHECK(end.ok());
}

TEST_CASE("a thread that takes over all ranks is refused in turn") {
  const auto seats = make_seats(2);
  std::thread([&] {
    for (const auto& seat : seats) seat->take();
    CHECK(seats[0]->await_others(kMillisecond).code() == hcommInvalidUsage);
  }).join();
}

}  // namespace hcomm
