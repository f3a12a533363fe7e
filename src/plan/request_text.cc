// What people may write in HCOMM_ALGO.

#include <algorithm>

#include "plan/choose.h"

namespace hcomm {
namespace {

constexpr std::string_view kAdaptive = "adaptive";

std::vector<std::string_view> algorithm_names() {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : algorithms()) {
    if (std::ranges::find(names, algorithm->name) == names.end()) names.push_back(algorithm->name);
  }
  return names;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

Status unknown(std::string_view what, std::string_view given, std::span<const std::string_view> legal) {
  std::string text = "HCOMM_ALGO: there is no ";
  text.append(what).append(" \"").append(given).append("\"");
  if (const std::string_view near = nearest_name(given, legal); !near.empty()) {
    text.append("; did you mean \"").append(near).append("\"?");
  }
  text.append(" Legal: ").append(joined(legal));
  text.append("; one of them for all, or per collective as in allreduce=ring,broadcast=flat");
  return Status::failure(hcommInvalidArgument, text);
}

// The algorithm's own name, which outlives the text; empty for adaptive.
Result<std::string_view> algorithm_named(std::string_view given) {
  std::vector<std::string_view> names = algorithm_names();
  const auto found = std::ranges::find(names, given);
  if (found != names.end()) return *found;
  if (given == kAdaptive) return std::string_view();
  names.insert(names.begin(), kAdaptive);
  return unknown("algorithm", given, names);
}

Result<Collective> collective_named(std::string_view given) {
  std::vector<std::string_view> names;
  for (const Collective collective : kCollectives) {
    if (name(collective) == given) return collective;
    names.push_back(name(collective));
  }
  return unknown("collective", given, names);
}

}  // namespace

Result<std::string_view> requested_algorithm(std::string_view text, Collective collective) {
  std::string_view for_all;
  std::string_view for_this;
  bool is_for_this = false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = item.find('=');
    Result<std::string_view> algorithm =
        algorithm_named(equals == std::string_view::npos ? item : item.substr(equals + 1));
    if (!algorithm.ok()) return algorithm;
    if (equals == std::string_view::npos) {
      for_all = algorithm.value();
      continue;
    }
    Result<Collective> target = collective_named(item.substr(0, equals));
    if (!target.ok()) return std::move(target).status();
    if (target.value() != collective) continue;
    for_this = algorithm.value();
    is_for_this = true;
  }
  return is_for_this ? for_this : for_all;
}

}  // namespace hcomm
