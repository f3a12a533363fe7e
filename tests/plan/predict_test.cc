// The cost model grows where work and waiting grow.
#include "plan/predict.h"

#include <catch2/catch.hpp>

#include <set>

namespace hcomm {
namespace {

PlanRequest request_of(const Algorithm& algorithm, int ranks, std::size_t bytes) {
  PlanRequest request{.collective = algorithm.collective, .ranks = ranks, .bytes = bytes, .cores = 64};
  request.room = {.chunk_bytes = 4u << 20, .has_window = true, .slot_bytes = 1u << 20};
  return request;
}

}  // namespace

TEST_CASE("more bytes never take less time") {
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective == Collective::barrier) continue;
    double before = 0;
    for (std::size_t bytes = 4; bytes <= std::size_t{64} << 20; bytes *= 4) {
      const Candidate candidate = predict(*algorithm, request_of(*algorithm, 4, bytes));
      INFO(algorithm->name << " " << name(algorithm->collective) << " " << bytes);
      CHECK(candidate.predicted_us >= before);
      before = candidate.predicted_us;
    }
  }
}

TEST_CASE("wider partial results take more time where they travel, and only there") {
  for (const Algorithm* algorithm : algorithms()) {
    if (!reduces(algorithm->collective)) continue;
    PlanRequest request = request_of(*algorithm, 4, 1u << 16);
    request.element_bytes = 2;
    request.partial_bytes = 2;
    request.sum_bytes = 2;
    const double narrow = predict(*algorithm, request).predicted_us;
    request.partial_bytes = 4;
    const double wide = predict(*algorithm, request).predicted_us;
    INFO(algorithm->name);
    const std::set<std::string_view> send_partial_results = {"recursive_doubling", "halving_doubling", "tree"};
    CHECK((wide > narrow) == send_partial_results.contains(algorithm->name));
  }
}

TEST_CASE("a chain pays for its length once, not for each chunk") {
  const Algorithm& chain = *find_algorithm("ring", Collective::broadcast);
  PlanRequest request = request_of(chain, 8, 64u << 20);
  request.room.has_window = false;
  const Candidate long_message = predict(chain, request);
  CHECK(long_message.chunks > 8);
  CHECK(static_cast<std::size_t>(long_message.rounds) < 8 * long_message.chunks + 8);
}

TEST_CASE("refusals name the reason") {
  const Algorithm& flat = *find_algorithm("flat", Collective::reduce_scatter);
  PlanRequest request = request_of(flat, 8, 64);
  CHECK(refusal(flat, request).empty());
  request.room.slot_bytes = 8 * 64 - 1;
  CHECK(refusal(flat, request).find("512") != std::string::npos);
  request.room.has_window = false;
  CHECK(refusal(flat, request).find("window") != std::string::npos);
  request.ranks = 1;
  CHECK(refusal(flat, request).empty());  // a rank alone needs none
}

}  // namespace hcomm
