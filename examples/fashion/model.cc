#include "model.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace fashion {

namespace {

// The four parts of a flat array of parameters or gradients. Matrices are row-major, one row per input of the layer.
template <class T>
struct Layers {
  explicit Layers(std::span<T> flat)
      : weights1(flat.subspan(0, kPixels * kHidden)),
        biases1(flat.subspan(weights1.size(), kHidden)),
        weights2(flat.subspan(weights1.size() + kHidden, kHidden * kClasses)),
        biases2(flat.last(kClasses)) {}

  std::span<T> weights1, biases1, weights2, biases2;
};

struct Matrix {
  const float* data;
  std::size_t rows, columns;
  bool transposed = false;  // stands for columns x rows
};

// target = left * right + beta * target
void multiply(const Matrix& left, const Matrix& right, float beta, float* target) {
  const std::size_t rows = left.transposed ? left.columns : left.rows;
  const std::size_t inner = left.transposed ? left.rows : left.columns;
  const std::size_t columns = right.transposed ? right.rows : right.columns;
  cblas_sgemm(CblasRowMajor, left.transposed ? CblasTrans : CblasNoTrans, right.transposed ? CblasTrans : CblasNoTrans,
              static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(inner), 1.0F, left.data,
              static_cast<int>(left.columns), right.data, static_cast<int>(right.columns), beta, target,
              static_cast<int>(columns));
}

void fill_rows(std::span<const float> row, std::size_t rows, float* target) {
  for (std::size_t i = 0; i < rows; ++i) std::ranges::copy(row, target + i * row.size());
}

void sum_rows(const float* matrix, std::size_t rows, std::span<float> target) {
  std::ranges::fill(target, 0.0F);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < target.size(); ++j) target[j] += matrix[i * target.size() + j];
  }
}

}  // namespace

void initialise(std::span<float> parameters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto fill = [&random](std::span<float> weights, std::size_t inputs) {
    const float bound = std::sqrt(6.0F / static_cast<float>(inputs));
    for (float& weight : weights) weight = bound * (static_cast<float>(random() >> 40) * 0x1p-23F - 1.0F);
  };
  std::ranges::fill(parameters, 0.0F);
  const Layers layers(parameters);
  fill(layers.weights1, kPixels);
  fill(layers.weights2, kHidden);
}

Network::Network(std::size_t capacity)
    : hidden_(capacity * kHidden), hidden_gradient_(capacity * kHidden), outputs_(capacity * kClasses) {}

double Network::loss_and_gradient(std::span<const float> parameters, const Batch& batch, std::span<float> gradient) {
  if (batch.size() == 0) {  // more ranks than pictures
    std::ranges::fill(gradient, 0.0F);
    return 0.0;
  }
  forward(parameters, batch);
  const double loss = softmax_loss(batch);
  backward(parameters, batch, gradient);
  return loss;
}

std::size_t Network::correct(std::span<const float> parameters, const Batch& batch) {
  if (batch.size() == 0) return 0;
  forward(parameters, batch);
  std::size_t hits = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::span<const float> scores(&outputs_[i * kClasses], kClasses);
    if (std::ranges::max_element(scores) - scores.begin() == batch.labels[i]) ++hits;
  }
  return hits;
}

void Network::forward(std::span<const float> parameters, const Batch& batch) {
  const Layers layers(parameters);
  const std::size_t size = batch.size();
  fill_rows(layers.biases1, size, hidden_.data());
  multiply({batch.pixels.data(), size, kPixels}, {layers.weights1.data(), kPixels, kHidden}, 1.0F, hidden_.data());
  for (std::size_t i = 0; i < size * kHidden; ++i) hidden_[i] = std::max(hidden_[i], 0.0F);
  fill_rows(layers.biases2, size, outputs_.data());
  multiply({hidden_.data(), size, kHidden}, {layers.weights2.data(), kHidden, kClasses}, 1.0F, outputs_.data());
}

// Turns scores into probabilities minus the truth, which is the gradient of the loss in the scores.
double Network::softmax_loss(const Batch& batch) {
  double loss = 0.0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::span<float> scores(&outputs_[i * kClasses], kClasses);
    const float largest = std::ranges::max(scores);
    const float truth = scores[batch.labels[i]];
    float sum = 0.0F;
    for (float& score : scores) sum += score = std::exp(score - largest);
    for (float& score : scores) score /= sum;
    scores[batch.labels[i]] -= 1.0F;
    loss += static_cast<double>(std::log(sum) - (truth - largest));
  }
  return loss;
}

void Network::backward(std::span<const float> parameters, const Batch& batch, std::span<float> gradient) {
  const Layers layers(parameters);
  const Layers gradients(gradient);
  const std::size_t size = batch.size();
  const Matrix outputs{outputs_.data(), size, kClasses};
  multiply({hidden_.data(), size, kHidden, true}, outputs, 0.0F, gradients.weights2.data());
  sum_rows(outputs_.data(), size, gradients.biases2);

  multiply(outputs, {layers.weights2.data(), kHidden, kClasses, true}, 0.0F, hidden_gradient_.data());
  for (std::size_t i = 0; i < size * kHidden; ++i) {
    if (hidden_[i] <= 0.0F) hidden_gradient_[i] = 0.0F;
  }
  multiply({batch.pixels.data(), size, kPixels, true}, {hidden_gradient_.data(), size, kHidden}, 0.0F,
           gradients.weights1.data());
  sum_rows(hidden_gradient_.data(), size, gradients.biases1);
}

}  // namespace fashion
