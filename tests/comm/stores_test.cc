#include "comm/stores.h"

#include <catch2/catch.hpp>

#include <thread>
#include <vector>

namespace hcomm {

TEST_CASE("a process finds one answer, in whichever thread it asks first") {
  std::vector<Store> answers(4);
  std::vector<std::thread> threads;
  for (Store& answer : answers) {
    threads.emplace_back([&answer] { answer = best_shared_store(); });
  }
  for (std::thread& thread : threads) thread.join();
  const Store best = best_shared_store();
  CHECK((best == Store::regular || best == Store::non_temporal || best == Store::rep_movsb));
  for (const Store answer : answers) CHECK(answer == best);
  for (int turn = 0; turn < 100; ++turn) CHECK(best_shared_store() == best);
}

}  // namespace hcomm
