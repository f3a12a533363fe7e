#include "plan/choose.h"

#include <algorithm>

#include "plan/predict.h"

namespace hcomm {
namespace {

Choice made(const Candidate& candidate, std::string_view decided_by, std::string why) {
  return {.algorithm = candidate.algorithm,
          .predicted_us = candidate.predicted_us,
          .decided_by = decided_by,
          .why = std::move(why),
          .expression = candidate.algorithm->expression};
}

Result<Choice> forced(const PlanRequest& request, std::string_view wanted) {
  const Algorithm* const algorithm = find_algorithm(wanted, request.collective);
  HCOMM_ASSERT(algorithm != nullptr);
  const std::string why = refusal(*algorithm, request);
  if (why.empty()) return made(predict(*algorithm, request), "HCOMM_ALGO", "asked for by name");
  std::string text(name(request.collective));
  text.append(" of ").append(std::to_string(request.ranks)).append(" ranks: HCOMM_ALGO=").append(wanted);
  text.append(" ").append(why).append("; valid here: adaptive");
  for (const Algorithm* other : algorithms()) {
    if (other->collective != request.collective || !refusal(*other, request).empty()) continue;
    text.append(", ").append(other->name);
  }
  return Status::failure(hcommInvalidUsage, text);
}

// The written rules. Where they name what there is not, the second name is taken, and `why` says so.
struct Rule {
  std::string_view where;
  std::string_view named;
  std::string_view instead;  // needs channels alone, as does `pairwise`; one of them is written for every collective
};

Rule rule_for(const PlanRequest& request) {
  constexpr int kFewRanks = 4;
  constexpr int kSomeRanks = 8;
  constexpr std::size_t kMiddleBytes = 1u << 20;
  constexpr std::size_t kLargeBytes = 16u << 20;
  int most = 0;  // ranks of one host
  std::vector<int> of_host(static_cast<std::size_t>(request.layout.hosts()));
  for (int rank = 0; rank < request.ranks; ++rank) {
    most = std::max(most, ++of_host[static_cast<std::size_t>(request.layout.host(rank))]);
  }
  if (most <= kFewRanks) return {"up to 4 ranks on a host", "ring", "ring"};
  if (most > kSomeRanks) return {"more than 8 ranks on a host", "hierarchical_ring", "ring"};
  if (request.bytes < kMiddleBytes) return {"5 to 8 ranks on a host, below 1 MB", "recursive_doubling", "recursive_doubling"};
  if (request.bytes < kLargeBytes) return {"5 to 8 ranks on a host, 1 to 16 MB", "tree", "recursive_doubling"};
  if (most < kSomeRanks) return {"5 to 7 ranks on a host, from 16 MB", "ring", "ring"};
  return {"8 ranks on a host, from 16 MB", "double_ring", "ring"};
}

Result<Choice> by_rules(const PlanRequest& request) {
  const Rule rule = rule_for(request);
  const Algorithm* algorithm = request.private_lengths ? nullptr : find_algorithm(rule.named, request.collective);
  std::string why = std::string(rule.where) + ": " + std::string(rule.named);
  if (algorithm == nullptr) {
    algorithm = request.private_lengths ? nullptr : find_algorithm(rule.instead, request.collective);
    if (algorithm == nullptr) algorithm = find_algorithm("pairwise", request.collective);
    HCOMM_ASSERT(algorithm != nullptr);
    why.append(", which is not written for ").append(name(request.collective)).append("; instead ").append(algorithm->name);
  }
  HCOMM_ASSERT(refusal(*algorithm, request).empty());
  return made(predict(*algorithm, request), "rules", std::move(why));
}

Result<Choice> by_model(const PlanRequest& request) {
  const std::vector<Candidate> all = candidates(request);
  const Candidate* best = nullptr;
  for (const Candidate& candidate : all) {
    if (!candidate.refused.empty()) continue;
    if (best == nullptr || candidate.predicted_us < best->predicted_us) best = &candidate;
  }
  if (best != nullptr) return made(*best, "model", "the least predicted time");
  std::string text("no algorithm serves ");
  text.append(name(request.collective)).append(" of ").append(std::to_string(request.ranks)).append(" ranks:");
  for (const Candidate& candidate : all) {
    text.append(" ").append(candidate.algorithm->name).append(" ").append(candidate.refused).append(";");
  }
  return Status::failure(hcommInvalidUsage, text);
}

Result<Choice> tuned(const PlanRequest& request, Tuner tuner) {
  switch (tuner) {
    case Tuner::model: return by_model(request);
    case Tuner::rules: return by_rules(request);
  }
  unreachable();
}

// A name for all collectives leaves alone those that it is not written for, and so it does those of unequal blocks.
bool may_be_forced(const PlanRequest& request, std::string_view wanted) {
  return !request.private_lengths || find_algorithm(wanted, request.collective)->only_between_owners;
}

}  // namespace

Result<Choice> choose(const PlanRequest& request, const Settings& settings) {
  Result<std::string_view> wanted = requested_algorithm(settings.algo, request.collective);
  if (!wanted.ok()) return std::move(wanted).status();
  if (!wanted.value().empty() && may_be_forced(request, wanted.value())) return forced(request, wanted.value());
  Result<Choice> choice = tuned(request, settings.tuner);
  if (choice.ok() && settings.algo != Settings().algo) {
    choice.value().why.append("; HCOMM_ALGO=").append(settings.algo).append(" leaves it adaptive");
  }
  return choice;
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
