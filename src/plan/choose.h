// Which algorithm serves a call, and why. Pure functions; some microseconds each, so callers keep what they learn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "algos/algorithm.h"
#include "base/knobs.h"
#include "base/status.h"
#include "plan/costs.h"
#include "plan/layout.h"
#include "plan/sizing.h"

namespace hcomm {

// Facts that every rank has, alike.
struct PlanRequest {
  Collective collective = Collective::allreduce;
  int ranks = 1;
  int root = 0;
  std::size_t bytes = 0;  // of the message (allreduce, broadcast), of one rank's part (reduce_scatter, allgather)
  std::size_t element_bytes = 4;
  std::size_t partial_bytes = 4;  // of an element in the format of partial results
  std::size_t sum_bytes = 4;      // of one in that of sums
  int slots = 2;
  int cores = 1;  // that all ranks may use together
  bool private_lengths = false;  // of blocks: no rank knows all of them
  RankLayout layout;
  Room room;
  Costs costs;

  Problem problem() const { return {.collective = collective, .ranks = ranks, .root = root, .slots = slots}; }
};

struct Choice {
  const Algorithm* algorithm = nullptr;
  double predicted_us = 0;
  std::string_view decided_by;  // "HCOMM_ALGO", "rules" or "model" ...
  std::string why;              // ... and why, in a few words
  std::string_view expression;  // the class of results with the same bits; "" where nothing is computed
};

// InvalidArgument if HCOMM_ALGO names what there is not; InvalidUsage if what it names cannot serve this request. Either
// text names the legal ones.
Result<Choice> choose(const PlanRequest& request, const Settings& settings);

// What a rank reads from its peers' windows, and what it sends or receives by messages, whichever is more.
struct LinkBytes {
  std::size_t window = 0;
  std::size_t shm = 0;
  std::size_t tcp = 0;
};

// A row of the table of all candidates.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  std::string refused;        // why it cannot serve the request; empty if it can, and then:
  double predicted_us = 0;
  std::size_t chunks = 0;
  std::size_t ops = 0;        // of the busiest rank
  std::size_t moved_bytes = 0;  // that the busiest rank loads and stores
  LinkBytes link_bytes;         // of the busiest rank of each kind of link
  int rounds = 0;             // that the last rank waits for, in all chunks
};
std::vector<Candidate> candidates(const PlanRequest& request);

// What HCOMM_ALGO asks for a collective; empty for adaptive, and where a name for all collectives is not written for this
// one. InvalidArgument as above, for any part of the text.
Result<std::string_view> requested_algorithm(std::string_view text, Collective collective);

}  // namespace hcomm
