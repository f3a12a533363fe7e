// The schedules a communicator has written so far: this rank's program of each problem it met, without sizes.
//
//   Threads:  one at a time.
//   Lifetime: templates never change and live as long as the cache; nothing is forgotten, for a communicator meets few
//             problems (one per collective and algorithm, times the roots it broadcasts from).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algos/algorithm.h"

namespace hcomm {

struct Template {
  const Algorithm* algorithm = nullptr;
  Problem problem;
  Shape shape;
  Program program;
  std::uint64_t hash = 0;
};

class TemplateCache {
 public:
  const Template& find(const Algorithm& algorithm, const Problem& problem, int rank);

  std::size_t size() const { return templates_.size(); }

 private:
  std::vector<std::unique_ptr<const Template>> templates_;  // sorted by algorithm, root, ranks, slots and rank
};

}  // namespace hcomm
