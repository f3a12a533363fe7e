#include "transport/verdict.h"

#include <algorithm>
#include <cstring>

#include "schedule/op.h"

namespace hcomm {
namespace {

std::uint64_t pair(std::uint32_t low, std::uint32_t high) { return low | static_cast<std::uint64_t>(high) << 32; }
std::uint64_t pair(Rank low, Rank high) { return pair(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high)); }
std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

// Where each field lies. A call's number is kept one higher, and 0 is no call.
constexpr std::size_t kHostAt = 3;
constexpr std::size_t kCulpritCallAt = 5;
constexpr std::size_t kWitnessCallAt = 9;
constexpr std::size_t kMoreLateAt = 14;
static_assert(kMoreLateAt + kMoreLate / 2 == kVerdictWords);

void pack_call(const std::optional<CallWords>& call, std::uint64_t* words) {
  if (!call) return;
  const PackedCall packed = pack(*call);
  words[0] = packed.kind;
  words[1] = packed.count;
  words[2] = packed.number + 1;
  words[3] = packed.before;
}

// False if there is a call, and it is none.
bool unpack_call(const std::uint64_t* words, int ranks, std::optional<CallWords>& call) {
  if (words[2] == 0) return true;
  call = unpack({.kind = words[0], .count = words[1], .number = words[2] - 1, .before = words[3]}, ranks);
  return call.has_value();
}

bool is_printable(char letter) { return letter > ' ' && letter <= '~'; }

}  // namespace

HostName host_name(std::string_view text) {
  HostName host{};
  const std::size_t length = std::min(text.size(), host.size() - 1);
  for (std::size_t at = 0; at < length; ++at) host[at] = is_printable(text[at]) ? text[at] : '?';
  return host;
}

std::string_view text_of(const HostName& host) { return {host.data(), strnlen(host.data(), host.size())}; }

VerdictWords pack(const Verdict& verdict) {
  VerdictWords words{};
  words[0] = pair(static_cast<std::uint32_t>(verdict.reason), verdict.signalled);
  words[1] = pair(verdict.culprit, verdict.pid);
  words[2] = pair(verdict.writer, verdict.witness);
  std::memcpy(&words[kHostAt], verdict.host.data(), verdict.host.size());
  pack_call(verdict.culprit_call, &words[kCulpritCallAt]);
  pack_call(verdict.witness_call, &words[kWitnessCallAt]);
  words[13] = verdict.late;
  for (std::size_t at = 0; at < kMoreLate / 2; ++at) {
    words[kMoreLateAt + at] = pair(verdict.more_late[2 * at], verdict.more_late[2 * at + 1]);
  }
  return words;
}

std::optional<Verdict> unpack(const VerdictWords& words, int ranks) {
  const std::uint32_t reason = low(words[0]);
  Verdict verdict{.reason = static_cast<Reason>(reason),
                  .culprit = static_cast<Rank>(low(words[1])),
                  .pid = static_cast<std::int32_t>(high(words[1])),
                  .writer = static_cast<Rank>(low(words[2])),
                  .witness = static_cast<Rank>(high(words[2])),
                  .late = low(words[13]),
                  .signalled = high(words[0])};
  HostName host{};
  std::memcpy(host.data(), &words[kHostAt], host.size());
  verdict.host = host_name(text_of(host));
  for (std::size_t at = 0; at < kMoreLate / 2; ++at) {
    verdict.more_late[2 * at] = static_cast<Rank>(low(words[kMoreLateAt + at]));
    verdict.more_late[2 * at + 1] = static_cast<Rank>(high(words[kMoreLateAt + at]));
  }
  const auto is_rank_or_none = [ranks](Rank rank) { return rank >= kNoRank && rank < ranks; };
  const bool sound = reason != 0 && reason <= static_cast<std::uint32_t>(kLastReason) && is_rank_or_none(verdict.culprit) &&
                     is_rank_or_none(verdict.writer) && is_rank_or_none(verdict.witness) && verdict.pid >= 0 &&
                     words[13] <= static_cast<std::uint64_t>(ranks) &&
                     verdict.signalled <= static_cast<std::uint32_t>(Phase::finished) &&
                     std::ranges::all_of(verdict.more_late, is_rank_or_none) &&
                     unpack_call(&words[kCulpritCallAt], ranks, verdict.culprit_call) &&
                     unpack_call(&words[kWitnessCallAt], ranks, verdict.witness_call);
  return sound ? std::optional(verdict) : std::nullopt;
}

}  // namespace hcomm
