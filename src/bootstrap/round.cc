#include "bootstrap/round.h"

#include <algorithm>
#include <map>

namespace hcomm {
namespace {

constexpr std::size_t kMaxListText = 200;

std::string rank_text(int rank, const Member& member) {
  return "rank " + std::to_string(rank) + " (pid " + std::to_string(member.facts.pid) + ")";
}

// A knob's entry begins at the start or after ";HCOMM_": values may hold ';'.
std::map<std::string_view, std::string_view> knob_entries(std::string_view text) {
  constexpr std::string_view separator = ";HCOMM_";
  std::map<std::string_view, std::string_view> entries;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::size_t equals = std::min(entry.find('='), entry.size());
    entries[entry.substr(0, equals)] = entry.substr(std::min(entry.size(), equals + 1));
  }
  return entries;
}

std::string on_rank(const std::map<std::string_view, std::string_view>& entries, std::string_view name, int rank) {
  const auto found = entries.find(name);
  const std::string value = found == entries.end() ? "unset" : "'" + std::string(found->second) + "'";
  return value + " on rank " + std::to_string(rank);
}

}  // namespace

std::string disagreement(std::string_view left, int left_rank, std::string_view right, int right_rank) {
  if (left == right) return {};
  const auto left_entries = knob_entries(left);
  const auto right_entries = knob_entries(right);
  auto names = left_entries;
  names.insert(right_entries.begin(), right_entries.end());
  for (const auto& [knob, unused] : names) {
    const auto here = left_entries.find(knob);
    const auto there = right_entries.find(knob);
    if (here != left_entries.end() && there != right_entries.end() && here->second == there->second) continue;
    return std::string(knob) + " is " + on_rank(left_entries, knob, left_rank) + " and " +
           on_rank(right_entries, knob, right_rank);
  }
  return "the settings are '" + std::string(left) + "' on rank " + std::to_string(left_rank) + " and '" + std::string(right) +
         "' on rank " + std::to_string(right_rank);
}

std::string duration_text(TimeNs duration) {
  if (duration % kSecond == 0) return std::to_string(duration / kSecond) + " s";
  if (duration < kSecond) return std::to_string(duration / kMillisecond) + " ms";
  return std::to_string(duration / kSecond) + "." + std::to_string(duration % kSecond / (kSecond / 10)) + " s";
}

Admission Round::check_agreement(const Hello& hello) const {
  for (std::size_t rank = 0; rank < arrivals_.size(); ++rank) {
    if (!arrivals_[rank].has_value()) continue;
    const std::string difference = disagreement(arrivals_[rank]->agreement, static_cast<int>(rank), hello.agreement, hello.rank);
    if (difference.empty()) return {};  // all that arrived before agree with each other
    return {Status::failure(hcommMismatch, difference + "; it must be the same on all ranks"), true};
  }
  return {};
}

Admission Round::admit(const Hello& hello, const Origin& origin) {
  const Member member{hello.facts, origin.visible_pid};
  const std::string who = rank_text(hello.rank, member);
  if (hello.ranks != ranks()) {
    return {Status::failure(hcommMismatch, "the ranks do not agree on how many they are: " + who + " says " +
                                               std::to_string(hello.ranks) + ", the others " + std::to_string(ranks())),
            true};
  }
  if (hello.rank < 0 || hello.rank >= ranks()) {
    return {Status::failure(hcommInvalidArgument,
                            who + " is out of range; ranks are 0 to " + std::to_string(ranks() - 1)), false};
  }
  std::optional<Arrival>& place = arrivals_[static_cast<std::size_t>(hello.rank)];
  if (place.has_value()) {
    return {Status::failure(hcommInvalidUsage, "rank " + std::to_string(hello.rank) + " has joined already, as pid " +
                                                   std::to_string(place->member.facts.pid) + "; pid " +
                                                   std::to_string(hello.facts.pid) +
                                                   " is refused: give each process a rank of its own"),
            false};
  }
  if (Admission agreement = check_agreement(hello); !agreement.status.ok()) return agreement;
  place = Arrival{.connection = origin.connection,
                  .remote = origin.remote,
                  .member = member,
                  .meets_at = hello.meets_at,
                  .agreement = hello.agreement};
  ++arrived_;
  return {};
}

Status Round::condemned() const {
  HCOMM_ASSERT(is_condemned());
  return Status::failure(code_, why_);
}

void Round::condemn(hcommResult_t code, std::string_view why, int rank, int connection) {
  if (!is_condemned()) {
    code_ = code;
    why_ = why;
  }
  dissenters_.push_back({rank, connection});
}

const Round::Arrival& Round::arrival(int rank) const {
  const std::optional<Arrival>& place = arrivals_[static_cast<std::size_t>(rank)];
  HCOMM_ASSERT(place.has_value());
  return *place;
}

bool Round::goes_on() const {
  return std::ranges::any_of(arrivals_, [](const auto& arrival) { return arrival.has_value() && arrival->remote; });
}

void Round::settle(int rank) {
  bool& settled = arrivals_[static_cast<std::size_t>(rank)]->settled;
  settled_ += settled ? 0 : 1;
  settled = true;
}

std::string Round::arrived_text() const {
  return std::to_string(arrived_) + " of " + std::to_string(ranks()) + (ranks() == 1 ? " rank arrived" : " ranks arrived");
}

// Who has not come or, when all have, who has not settled; in ranges.
std::string Round::awaited_text() const {
  std::string text;
  const auto awaited = [&](int rank) {
    if (rank >= ranks()) return false;
    const std::optional<Arrival>& place = arrivals_[static_cast<std::size_t>(rank)];
    return complete() ? !place->settled : !place.has_value();
  };
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!awaited(rank)) continue;
    if (text.size() > kMaxListText) return text + ", ...";
    int last = rank;
    while (awaited(last + 1)) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(rank);
    if (last > rank) text += (last == rank + 1 ? ", " : "-") + std::to_string(last);
    rank = last;
  }
  return text;
}

std::string Round::news() const {
  if (complete()) return arrived_text() + "; without the table of members or their host's segment yet: " + awaited_text();
  return arrived_text() + "; missing: " + awaited_text();
}

Status Round::timed_out(TimeNs waited) const {
  const std::string limit = "HCOMM_CONNECT_TIMEOUT sets how long to wait)";
  if (complete()) {
    return Status::failure(hcommTimeout, arrived_text() + ", but within " + duration_text(waited) +
                                             " these had no table of members or no segment: " + awaited_text() +
                                             " (can the hosts reach each other? " + limit);
  }
  return Status::failure(hcommTimeout, arrived_text() + " within " + duration_text(waited) + "; missing: " + awaited_text() +
                                           " (did they start? " + limit);
}

Status Round::left(int rank) const {
  const std::string when = complete() ? " left before all ranks had met (" : " left before all ranks had arrived (";
  return Status::failure(hcommRemoteError, rank_text(rank, arrival(rank).member) + when + news() + ")");
}

Status Round::failed(int rank, hcommResult_t code, std::string_view why) const {
  return Status::failure(code, rank_text(rank, arrival(rank).member) + " cannot go on: " + std::string(why));
}

std::vector<Member> Round::members() const {
  HCOMM_ASSERT(complete());
  std::vector<Member> members;
  for (const std::optional<Arrival>& arrival : arrivals_) members.push_back(arrival->member);
  return members;
}

std::vector<Seat> Round::seats() const {
  HCOMM_ASSERT(complete());
  std::vector<Seat> seats;
  for (const std::optional<Arrival>& arrival : arrivals_) seats.push_back({arrival->member.facts.host, arrival->meets_at});
  return seats;
}

std::vector<int> Round::connections() const {
  std::vector<Dissenter> all = dissenters_;
  for (int rank = ranks() - 1; rank >= 0; --rank) {
    const std::optional<Arrival>& place = arrivals_[static_cast<std::size_t>(rank)];
    if (place.has_value()) all.push_back({rank, place->connection});
  }
  std::ranges::stable_partition(all, [](const Dissenter& one) { return one.rank != 0; });
  std::vector<int> connections;
  for (const Dissenter& one : all) connections.push_back(one.connection);
  return connections;
}

}  // namespace hcomm
