// Data-parallel training: every rank holds the same weights, takes its part of each batch, and adds its gradients to the others'.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <hcomm/hcomm.hpp>
#include <vector>

#include "idx.h"

namespace fashion {

// The same on every rank.
struct Settings {
  int epochs = 6;
  std::size_t batch = 256;  // pictures of all ranks together in one step
  std::uint64_t seed = 1;   // of the first weights and of the order of the pictures
};

struct Epoch {
  int number = 0;                    // from 1
  double loss = 0.0;                 // mean over the training set, in nats, while it was learned
  double accuracy = 0.0;             // on the test set
  double seconds = 0.0;              // with the test
  double communication_share = 0.0;  // of the steps' time, mean over ranks; waiting for slower ranks included
};

struct Outcome {
  std::vector<Epoch> epochs;
  bool weights_identical = false;  // bit for bit, on all ranks
  std::uint64_t weights_hash = 0;
};

// Collective. Calls `report` after each epoch. What it returns is the same on every rank, but for the seconds.
Outcome train(hcomm::Communicator& comm, const Dataset& training, const Dataset& test, const Settings& settings,
              const std::function<void(const Epoch&)>& report);

}  // namespace fashion
