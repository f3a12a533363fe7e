#include "plan/choose.h"

#include <algorithm>

#include "plan/predict.h"

namespace hcomm {
namespace {

Choice made(const Candidate& candidate, std::string_view decided_by) {
  return {.algorithm = candidate.algorithm,
          .predicted_us = candidate.predicted_us,
          .decided_by = decided_by,
          .expression = candidate.algorithm->expression};
}

Result<Choice> forced(const PlanRequest& request, std::string_view wanted) {
  const Algorithm* const algorithm = find_algorithm(wanted, request.collective);
  HCOMM_ASSERT(algorithm != nullptr);
  const std::string why = refusal(*algorithm, request);
  if (why.empty()) return made(predict(*algorithm, request), "HCOMM_ALGO");
  std::string text(name(request.collective));
  text.append(" of ").append(std::to_string(request.ranks)).append(" ranks: HCOMM_ALGO=").append(wanted);
  text.append(" ").append(why).append("; valid here: adaptive");
  for (const Algorithm* other : algorithms()) {
    if (other->collective != request.collective || !refusal(*other, request).empty()) continue;
    text.append(", ").append(other->name);
  }
  return Status::failure(hcommInvalidUsage, text);
}

// The written rules, in the words of this room's README. What they name needs channels alone, so it is always there.
Result<Choice> by_rules(const PlanRequest& request) {
  constexpr int kFewRanks = 4;
  constexpr int kSomeRanks = 8;
  constexpr std::size_t kLargeBytes = 16u << 20;
  const bool some = kFewRanks < request.ranks && request.ranks <= kSomeRanks;
  const bool small = request.bytes < kLargeBytes;
  const std::string_view wanted = some && small ? "recursive_doubling" : "ring";
  const Algorithm* const algorithm = find_algorithm(wanted, request.collective);
  HCOMM_ASSERT(algorithm != nullptr && refusal(*algorithm, request).empty());
  return made(predict(*algorithm, request), "rules");
}

Result<Choice> by_model(const PlanRequest& request) {
  const std::vector<Candidate> all = candidates(request);
  const Candidate* best = nullptr;
  for (const Candidate& candidate : all) {
    if (!candidate.refused.empty()) continue;
    if (best == nullptr || candidate.predicted_us < best->predicted_us) best = &candidate;
  }
  if (best != nullptr) return made(*best, "model");
  std::string text("no algorithm serves ");
  text.append(name(request.collective)).append(" of ").append(std::to_string(request.ranks)).append(" ranks:");
  for (const Candidate& candidate : all) {
    text.append(" ").append(candidate.algorithm->name).append(" ").append(candidate.refused).append(";");
  }
  return Status::failure(hcommInvalidUsage, text);
}

}  // namespace

Result<Choice> choose(const PlanRequest& request, const Settings& settings) {
  Result<std::string_view> wanted = requested_algorithm(settings.algo, request.collective);
  if (!wanted.ok()) return std::move(wanted).status();
  if (!wanted.value().empty()) return forced(request, wanted.value());
  switch (settings.tuner) {
    case Tuner::model: return by_model(request);
    case Tuner::rules: return by_rules(request);
  }
  unreachable();
}

std::vector<Candidate> candidates(const PlanRequest& request) {
  std::vector<Candidate> all;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != request.collective) continue;
    std::string refused = refusal(*algorithm, request);
    if (refused.empty()) {
      all.push_back(predict(*algorithm, request));
    } else {
      all.push_back({.algorithm = algorithm, .refused = std::move(refused)});
    }
  }
  return all;
}

}  // namespace hcomm
