#include "train.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <random>
#include <span>

#include "model.h"

namespace fashion {

namespace {

constexpr float kLearningRate = 0.05F;    // at the first step; falls linearly to zero
constexpr std::size_t kUsualBatch = 256;  // smaller batches take proportionally smaller steps
constexpr float kMomentum = 0.9F;
constexpr float kMeanPixel = 0.286F;  // of the training set, where white is 1
constexpr float kDeviation = 0.353F;
constexpr std::size_t kTestBatch = 500;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Part {
  std::size_t begin, end;

  std::size_t size() const { return end - begin; }
};

// The rank's part of `total` things; the parts of all ranks are in order, disjoint, complete, and differ in size by at most one.
Part part_of(std::size_t total, std::size_t rank, std::size_t ranks) {
  return {total * rank / ranks, total * (rank + 1) / ranks};
}

// Every rank shuffles the whole order with the same seed: who takes which picture needs no communication.
void shuffle(std::span<std::uint32_t> order, std::mt19937_64& random) {
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
}

std::uint64_t hash(std::span<const float> values) {  // FNV-1a over the bytes
  std::uint64_t state = 0xcbf29ce484222325;
  for (const std::byte byte : std::as_bytes(values)) state = (state ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  return state;
}

// Pictures gathered in some order, as floats around zero.
class Gatherer {
 public:
  Gatherer(const Dataset& data, std::size_t capacity) : data_(data), pixels_(capacity * kPixels), labels_(capacity) {}

  // The batch is valid until the next call.
  Batch gather(std::span<const std::uint32_t> which) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      const std::span source = std::span(data_.pixels).subspan(which[i] * kPixels, kPixels);
      std::ranges::transform(source, pixels_.begin() + static_cast<std::ptrdiff_t>(i * kPixels), [](std::uint8_t pixel) {
        return (static_cast<float>(pixel) * (1.0F / 255.0F) - kMeanPixel) * (1.0F / kDeviation);
      });
      labels_[i] = data_.labels[which[i]];
    }
    return {std::span(pixels_).first(which.size() * kPixels), std::span(labels_).first(which.size())};
  }

 private:
  const Dataset& data_;
  std::vector<float> pixels_;
  std::vector<std::uint8_t> labels_;
};

class Trainer {
 public:
  Trainer(hcomm::Communicator& comm, const Dataset& training, const Settings& settings)
      : comm_(comm),
        settings_(settings),
        rank_(static_cast<std::size_t>(comm.rank())),
        ranks_(static_cast<std::size_t>(comm.size())),
        random_(settings.seed),
        order_(training.count),
        gatherer_(training, settings.batch / ranks_ + 1),
        network_(settings.batch / ranks_ + 1),
        parameters_(kParameters),
        momentum_(kParameters),
        gradient_(kParameters) {
    std::iota(order_.begin(), order_.end(), 0U);
    const std::size_t steps_per_epoch = (training.count + settings.batch - 1) / settings.batch;
    steps_ = steps_per_epoch * static_cast<std::size_t>(settings.epochs);
    if (rank_ == 0) initialise(parameters_, settings.seed);
    comm_.broadcast(parameters_, 0);
  }

  // One pass over the training set. Fills in the loss and the share of communication.
  void run_epoch(Epoch& epoch) {
    shuffle(order_, random_);
    double loss = 0.0;
    double communication_seconds = 0.0;
    const Clock::time_point start = Clock::now();
    for (std::size_t first = 0; first < order_.size(); first += settings_.batch) {
      const std::span<const std::uint32_t> batch =
          std::span(order_).subspan(first, std::min(settings_.batch, order_.size() - first));
      const Part mine = part_of(batch.size(), rank_, ranks_);
      loss += network_.loss_and_gradient(parameters_, gatherer_.gather(batch.subspan(mine.begin, mine.size())), gradient_);

      const Clock::time_point before = Clock::now();
      comm_.all_reduce(gradient_);
      communication_seconds += seconds_since(before);

      descend(1.0F / static_cast<float>(batch.size()));
    }
    std::array<double, 3> sums{loss, communication_seconds, seconds_since(start)};
    comm_.all_reduce(sums);
    epoch.loss = sums[0] / static_cast<double>(order_.size());
    epoch.communication_share = sums[1] / sums[2];
  }

  // Each rank tests its part of the set.
  double accuracy(const Dataset& test) {
    const Part mine = part_of(test.count, rank_, ranks_);
    std::vector<std::uint32_t> which(mine.size());
    std::iota(which.begin(), which.end(), static_cast<std::uint32_t>(mine.begin));
    Gatherer gatherer(test, kTestBatch);
    Network network(kTestBatch);
    std::array<std::int64_t, 1> correct{0};
    for (std::size_t first = 0; first < which.size(); first += kTestBatch) {
      const auto batch = std::span(which).subspan(first, std::min(kTestBatch, which.size() - first));
      correct[0] += static_cast<std::int64_t>(network.correct(parameters_, gatherer.gather(batch)));
    }
    comm_.all_reduce(correct);
    return static_cast<double>(correct[0]) / static_cast<double>(test.count);
  }

  // The ranks' weights are the same bits if the smallest of their hashes is the largest.
  void compare_weights(Outcome& outcome) {
    outcome.weights_hash = hash(parameters_);
    std::array<std::int64_t, 1> smallest{static_cast<std::int64_t>(outcome.weights_hash)};
    std::array<std::int64_t, 1> largest = smallest;
    comm_.all_reduce(smallest, hcomm::Op::min);
    comm_.all_reduce(largest, hcomm::Op::max);
    outcome.weights_identical = smallest == largest;
  }

 private:
  // Stochastic gradient descent with momentum; `scale` turns the summed gradient into the mean.
  void descend(float scale) {
    const float size_factor = static_cast<float>(std::min(settings_.batch, kUsualBatch)) / static_cast<float>(kUsualBatch);
    const float rate = kLearningRate * size_factor * (1.0F - static_cast<float>(step_) / static_cast<float>(steps_));
    ++step_;
    for (std::size_t i = 0; i < kParameters; ++i) {
      momentum_[i] = kMomentum * momentum_[i] + scale * gradient_[i];
      parameters_[i] -= rate * momentum_[i];
    }
  }

  hcomm::Communicator& comm_;
  const Settings settings_;
  const std::size_t rank_, ranks_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> order_;
  Gatherer gatherer_;
  Network network_;
  std::vector<float> parameters_, momentum_;
  hcomm::Buffer<float> gradient_;
  std::size_t step_ = 0, steps_ = 0;
};

}  // namespace

Outcome train(hcomm::Communicator& comm, const Dataset& training, const Dataset& test, const Settings& settings,
              const std::function<void(const Epoch&)>& report) {
  Trainer trainer(comm, training, settings);
  Outcome outcome;
  for (int number = 1; number <= settings.epochs; ++number) {
    const Clock::time_point start = Clock::now();
    Epoch epoch{.number = number};
    trainer.run_epoch(epoch);
    epoch.accuracy = trainer.accuracy(test);
    epoch.seconds = seconds_since(start);
    outcome.epochs.push_back(epoch);
    report(epoch);
  }
  trainer.compare_weights(outcome);
  return outcome;
}

}  // namespace fashion
