// What people may write in HCOMM_ALGO: parts with commas between them, in any order. A part is the name of an algorithm, for
// all collectives that it is written for, or collective=name.

#include <algorithm>

#include "plan/choose.h"

namespace hcomm {
namespace {

constexpr std::string_view kAdaptive = "adaptive";

struct Part {
  bool for_all = false;
  std::string_view collective;  // empty where it is for all
  std::string_view algorithm;
};

// "adaptive", and the algorithms of all collectives or of one.
std::vector<std::string_view> legal_names(const Collective* only = nullptr) {
  std::vector<std::string_view> names = {kAdaptive};
  for (const Algorithm* algorithm : algorithms()) {
    if (only != nullptr && algorithm->collective != *only) continue;
    if (std::ranges::find(names, algorithm->name) == names.end()) names.push_back(algorithm->name);
  }
  return names;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

Status refuse(std::string why, std::span<const std::string_view> legal) {
  why.insert(0, "HCOMM_ALGO: ");
  why.append(" Legal: ").append(joined(legal));
  why.append("; one of them for all, or per collective as in allreduce=ring,broadcast=tree");
  return Status::failure(hcommInvalidArgument, why);
}

Status unknown(std::string_view what, std::string_view given, std::span<const std::string_view> legal) {
  std::string text = "there is no ";
  text.append(what).append(" \"").append(given).append("\"");
  if (const std::string_view near = nearest_name(given, legal); !near.empty()) {
    text.append("; did you mean \"").append(near).append("\"?");
  }
  return refuse(std::move(text), legal);
}

Result<Collective> collective_named(std::string_view given) {
  std::vector<std::string_view> names;
  for (const Collective collective : kCollectives) {
    if (name(collective) == given) return collective;
    names.push_back(name(collective));
  }
  return unknown("collective", given, names);
}

// Also where it does not matter for the call at hand.
Status check(const Part& part) {
  const std::vector<std::string_view> names = legal_names();
  if (std::ranges::find(names, part.algorithm) == names.end()) return unknown("algorithm", part.algorithm, names);
  if (part.for_all) return {};
  Result<Collective> collective = collective_named(part.collective);
  if (!collective.ok()) return std::move(collective).status();
  const std::vector<std::string_view> written = legal_names(&collective.value());
  if (std::ranges::find(written, part.algorithm) != written.end()) return {};
  std::string text(part.algorithm);
  return refuse(text.append(" is not written for ").append(part.collective).append("."), written);
}

Result<std::vector<Part>> parts_of(std::string_view text) {
  std::vector<Part> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = item.find('=');
    const bool for_all = equals == std::string_view::npos;
    Part part{.for_all = for_all, .collective = {}, .algorithm = item};
    if (!for_all) part = {.collective = item.substr(0, equals), .algorithm = item.substr(equals + 1)};
    if (Status status = check(part); !status.ok()) return status;
    if (std::ranges::find(parts, part.collective, &Part::collective) != parts.end()) {
      std::string why = for_all ? "two names for all collectives, the second is " : "twice the same collective, the second is ";
      return refuse(why.append(item).append("."), legal_names());
    }
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

Result<std::string_view> requested_algorithm(std::string_view text, Collective collective) {
  if (text.find("level0:") != std::string_view::npos || text.find("level1:") != std::string_view::npos) {
    return refuse("\"" + std::string(text) + "\" is HCCL's form by levels, which this version does not have yet.", legal_names());
  }
  Result<std::vector<Part>> parts = parts_of(text);
  if (!parts.ok()) return std::move(parts).status();
  std::string_view wanted = kAdaptive;
  for (const Part& part : parts.value()) {
    if (part.for_all) wanted = part.algorithm;
  }
  for (const Part& part : parts.value()) {
    if (part.collective == name(collective)) wanted = part.algorithm;
  }
  const Algorithm* const algorithm = find_algorithm(wanted, collective);
  return algorithm != nullptr ? algorithm->name : std::string_view();
}

}  // namespace hcomm
