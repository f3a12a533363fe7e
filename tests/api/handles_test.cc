// Handles that are stale, doubled or never were are recognised and never followed.
#include "api/handles.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace hcomm {
namespace {

// The table keeps addresses and follows none, so most of these tests need no communicators: only addresses to tell apart.
std::array<std::uint64_t, kMaxCommunicators + 8> stand_ins;

std::unique_ptr<Communicator> stand_in(std::size_t which) {
  return std::unique_ptr<Communicator>(reinterpret_cast<Communicator*>(&stand_ins[which]));
}

// Takes a stand-in out again; never destroys it.
bool take_stand_in(hcommComm_t handle, std::size_t which) {
  return take_communicator(handle).release() == reinterpret_cast<Communicator*>(&stand_ins[which]);
}

hcommComm_t as_handle(std::uintptr_t number) { return reinterpret_cast<hcommComm_t>(number); }

}  // namespace

TEST_CASE("a handle finds its communicator until it is taken") {
  auto made = std::make_unique<Communicator>(Membership{});
  Communicator* const address = made.get();
  const hcommComm_t handle = add_handle(std::move(made)).value();
  CHECK(handle != nullptr);
  CHECK(find_communicator(handle) == address);
  const auto taken = take_communicator(handle);
  CHECK(taken.get() == address);
  CHECK(find_communicator(handle) == nullptr);
  CHECK(take_communicator(handle) == nullptr);  // twice
}

TEST_CASE("what never was a handle finds nothing") {
  const hcommComm_t live = add_handle(stand_in(0)).value();
  const auto number = reinterpret_cast<std::uintptr_t>(live);
  int object = 0;
  CHECK(find_communicator(nullptr) == nullptr);
  CHECK(find_communicator(reinterpret_cast<hcommComm_t>(&object)) == nullptr);
  CHECK(find_communicator(reinterpret_cast<hcommComm_t>(&stand_ins[0])) == nullptr);  // the communicator's own address
  for (int bit = 0; bit < 64; ++bit) {
    INFO("bit " << bit);
    CHECK(find_communicator(as_handle(number ^ std::uintptr_t{1} << bit)) == nullptr);
    CHECK(take_communicator(as_handle(std::uintptr_t{1} << bit)) == nullptr);
  }
  CHECK(find_communicator(as_handle(~std::uintptr_t{0})) == nullptr);
  CHECK(take_stand_in(live, 0));
}

TEST_CASE("a stale handle stays stale when its place is used again") {
  const hcommComm_t stale = add_handle(stand_in(0)).value();
  CHECK(take_stand_in(stale, 0));
  std::set<hcommComm_t> seen = {stale};
  for (std::size_t turn = 0; turn < 3 * kMaxCommunicators; ++turn) {  // each place three times
    const hcommComm_t next = add_handle(stand_in(1)).value();
    if (!seen.insert(next).second) FAIL("a handle was given twice");
    if (find_communicator(stale) != nullptr) FAIL("a stale handle was followed");
    if (!take_stand_in(next, 1)) FAIL("a handle found something else");
  }
  CHECK(seen.size() == 3 * kMaxCommunicators + 1);
}

TEST_CASE("when all places are taken the next one is refused, until one is free") {
  std::vector<hcommComm_t> handles;
  for (std::size_t i = 0; i < kMaxCommunicators; ++i) {
    Result<hcommComm_t> added = add_handle(stand_in(i));
    if (!added.ok()) FAIL(added.status().trail());
    handles.push_back(added.value());
  }
  const Result<hcommComm_t> refused = add_handle(nullptr);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == hcommOutOfMemory);
  CHECK_THAT(std::string(refused.status().trail()), Catch::Contains("16384 communicators") && Catch::Contains("destroy one"));

  CHECK(take_stand_in(handles[77], 77));
  const hcommComm_t instead = add_handle(stand_in(kMaxCommunicators)).value();
  CHECK(find_communicator(handles[77]) == nullptr);
  CHECK(take_stand_in(instead, kMaxCommunicators));
  for (std::size_t i = 0; i < kMaxCommunicators; ++i) {
    if (i != 77 && !take_stand_in(handles[i], i)) FAIL("handle " << i << " found something else");
  }
}

TEST_CASE("threads add, find and take without meeting") {
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
    threads.emplace_back([&wrong, thread] {
      for (int turn = 0; turn < 2000; ++turn) {
        const hcommComm_t handle = add_handle(stand_in(thread)).value();
        wrong[thread] += find_communicator(handle) != reinterpret_cast<Communicator*>(&stand_ins[thread]);
        wrong[thread] += !take_stand_in(handle, thread);
        wrong[thread] += find_communicator(handle) != nullptr;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::array<int, 4>{});
}

TEST_CASE("the refusal tells NULL and stale handles apart") {
  CHECK(no_such_handle(nullptr).code() == hcommInvalidArgument);
  CHECK_THAT(std::string(no_such_handle(nullptr).trail()), Catch::Contains("comm is NULL"));
  CHECK(no_such_handle(as_handle(1)).code() == hcommInvalidArgument);
  CHECK_THAT(std::string(no_such_handle(as_handle(1)).trail()), Catch::Contains("was destroyed"));
}

}  // namespace hcomm
