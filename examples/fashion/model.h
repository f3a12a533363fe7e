// A classifier with one hidden layer: 784 pixels, 256 rectified units, 10 classes; softmax and cross-entropy.
//
// All parameters lie in one flat array, and their gradients in another of the same shape: one allreduce is enough for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "idx.h"

namespace fashion {

inline constexpr std::size_t kHidden = 256;
inline constexpr std::size_t kParameters = kPixels * kHidden + kHidden + kHidden * kClasses + kClasses;

// Random weights (uniform, scaled to each layer's fan-in), zero biases; the same on every machine for the same seed.
void initialise(std::span<float> parameters, std::uint64_t seed);

// Pictures as the model wants them: kPixels floats each.
struct Batch {
  std::span<const float> pixels;
  std::span<const std::uint8_t> labels;

  std::size_t size() const { return labels.size(); }
};

// The layers' activations for batches of at most `capacity` pictures. Parameters are the caller's. One thread.
class Network {
 public:
  explicit Network(std::size_t capacity);

  // Writes the sum (not the mean) of the gradients over the batch; returns the sum of the losses.
  double loss_and_gradient(std::span<const float> parameters, const Batch& batch, std::span<float> gradient);

  // How many pictures of the batch get their own class.
  std::size_t correct(std::span<const float> parameters, const Batch& batch);

 private:
  void forward(std::span<const float> parameters, const Batch& batch);
  double softmax_loss(const Batch& batch);
  void backward(std::span<const float> parameters, const Batch& batch, std::span<float> gradient);

  std::vector<float> hidden_;            // capacity x kHidden
  std::vector<float> hidden_gradient_;   // the same shape
  std::vector<float> outputs_;           // capacity x kClasses: scores, then the loss's gradient in them
};

}  // namespace fashion
