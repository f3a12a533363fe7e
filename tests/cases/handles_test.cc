// Handles through the C API: what they are after a failure, what a dead or null one answers, in which order they may end.
#include <hcomm/hcomm.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

hcommComm_t some_handle() { return reinterpret_cast<hcommComm_t>(std::uintptr_t{0x1234}); }

std::string last_error() { return hcommGetLastError(nullptr); }

// Every function that takes a communicator, on one.
std::vector<std::pair<std::string, hcommResult_t>> every_use(hcommComm_t comm) {
  float send[4] = {}, recv[16] = {};
  int number = 0;
  hcommResult_t state = hcommSuccess;
  return {
      {"allreduce", hcommAllReduce(send, recv, 4, hcommFloat32, hcommSum, comm, nullptr)},
      {"broadcast", hcommBroadcast(send, recv, 4, hcommFloat32, 0, comm, nullptr)},
      {"reduce_scatter", hcommReduceScatter(send, recv, 1, hcommFloat32, hcommSum, comm, nullptr)},
      {"allgather", hcommAllGather(send, recv, 4, hcommFloat32, comm, nullptr)},
      {"reduce", hcommReduce(send, recv, 4, hcommFloat32, hcommSum, 0, comm, nullptr)},
      {"gather", hcommGather(send, recv, 4, hcommFloat32, 0, comm, nullptr)},
      {"scatter", hcommScatter(send, recv, 1, hcommFloat32, 0, comm, nullptr)},
      {"alltoall", hcommAllToAll(send, recv, 1, hcommFloat32, comm, nullptr)},
      {"barrier", hcommBarrier(comm, nullptr)},
      {"count", hcommCommCount(comm, &number)},
      {"rank", hcommCommUserRank(comm, &number)},
      {"async error", hcommCommGetAsyncError(comm, &state)},
      {"abort", hcommCommAbort(comm)},
  };
}

}  // namespace

TEST_CASE("B040 a failed init leaves a null handle and says which argument is wrong") {
  hcommUniqueId id;
  REQUIRE(hcommGetUniqueId(&id) == hcommSuccess);
  struct Wrong {
    int size;
    int rank;
    const char* word;
  };
  for (const Wrong& wrong : {Wrong{0, 0, "size 0"}, Wrong{-1, 0, "size -1"}, Wrong{2, -1, "rank -1"}, Wrong{2, 2, "rank 2"},
                             Wrong{1 << 30, 0, "size 1073741824"}}) {
    hcommComm_t comm = some_handle();
    CHECK(hcommCommInitRank(&comm, wrong.size, id, wrong.rank) == hcommInvalidArgument);
    CHECK(comm == nullptr);
    CHECK_THAT(last_error(), Catch::Contains(wrong.word));
  }
  hcommComm_t comm = some_handle();
  CHECK(hcommCommInitRank(&comm, 2, hcommUniqueId{}, 0) == hcommInvalidArgument);
  CHECK(comm == nullptr);
  comm = some_handle();
  CHECK(hcommCommInitEnv(&comm) != hcommSuccess);
  CHECK(comm == nullptr);
  CHECK(hcommCommInitRank(nullptr, 1, id, 0) == hcommInvalidArgument);
  CHECK(hcommCommInitEnv(nullptr) == hcommInvalidArgument);
  CHECK(hcommCommInitAll(nullptr, 2) == hcommInvalidArgument);
  CHECK(hcommGetUniqueId(nullptr) == hcommInvalidArgument);
  for (const int size : {0, -5, 1 << 20}) {
    CHECK(hcommCommInitAll(&comm, size) == hcommInvalidArgument);
    CHECK_THAT(last_error(), Catch::Contains("size"));
  }
  REQUIRE(hcommCommInitRank(&comm, 1, id, 0) == hcommSuccess);  // the id is still good
  CHECK(comm != nullptr);
  CHECK(hcommCommDestroy(comm) == hcommSuccess);
}

TEST_CASE("B040 B043 null and destroyed handles are refused by every function, and are destroyed once") {
  hcommComm_t comms[2];
  REQUIRE(hcommCommInitAll(comms, 2) == hcommSuccess);
  for (const auto& [function, result] : every_use(nullptr)) {
    INFO(function << " of NULL");
    CHECK(result == hcommInvalidArgument);
  }
  CHECK_THAT(last_error(), Catch::Contains("NULL"));
  CHECK(hcommCommDestroy(nullptr) == hcommSuccess);
  const hcommComm_t old = comms[0];
  for (const hcommComm_t comm : comms) CHECK(hcommCommDestroy(comm) == hcommSuccess);
  for (const auto& [function, result] : every_use(old)) {
    INFO(function << " of a destroyed handle");
    CHECK(result == hcommInvalidArgument);
  }
  CHECK(hcommCommDestroy(old) == hcommInvalidArgument);
  // A new communicator that may take the same place does not answer to the old name.
  REQUIRE(hcommCommInitAll(comms, 1) == hcommSuccess);
  CHECK(hcommBarrier(old, nullptr) == hcommInvalidArgument);
  CHECK(hcommBarrier(comms[0], nullptr) == hcommSuccess);
  CHECK(hcommCommDestroy(comms[0]) == hcommSuccess);
  CHECK(hcommBarrier(some_handle(), nullptr) == hcommInvalidArgument);
}

TEST_CASE("B005 B040 the last error of a handle that is none is a text, never a crash") {
  CHECK(hcommGetLastError(some_handle()) != nullptr);
  CHECK(std::string(hcommGetErrorString(static_cast<hcommResult_t>(4711))).size() > 0);
}

TEST_CASE("B082 three communicators may end in any order on either rank") {
  std::vector<int> first{0, 1, 2};
  do {
    std::vector<int> second{0, 1, 2};
    do {
      hcommComm_t comms[3][2];
      for (auto& pair : comms) REQUIRE(hcommCommInitAll(pair, 2) == hcommSuccess);
      hcommResult_t results[2] = {};
      const auto rank_body = [&](int rank, const std::vector<int>& order) {
        hcommResult_t worst = hcommSuccess;
        const auto note = [&](hcommResult_t result) { worst = result == hcommSuccess ? worst : result; };
        for (auto& pair : comms) {
          int send = 1, recv = 0;
          note(hcommAllReduce(&send, &recv, 1, hcommInt32, hcommSum, pair[rank], nullptr));
          if (recv != 2) note(hcommInternalError);
        }
        for (const int which : order) note(hcommCommDestroy(comms[which][rank]));
        results[rank] = worst;
      };
      std::thread peer(rank_body, 1, second);
      rank_body(0, first);
      peer.join();
      CHECK(results[0] == hcommSuccess);
      CHECK(results[1] == hcommSuccess);
    } while (std::ranges::next_permutation(second).found);
  } while (std::ranges::next_permutation(first).found);
}
