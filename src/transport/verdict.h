// Why a communicator ended, with all that a reader needs to say so: readers may be in other processes and on other hosts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "base/ids.h"
#include "transport/call_words.h"

namespace hcomm {

enum class Reason : std::uint32_t { none, died, timed_out, mismatch, aborted, broken, stuck, left };
inline constexpr Reason kLastReason = Reason::left;

constexpr std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::none:      return "none";
    case Reason::died:      return "died";
    case Reason::timed_out: return "timed out";
    case Reason::mismatch:  return "mismatch";
    case Reason::aborted:   return "aborted";
    case Reason::broken:    return "broken";
    case Reason::stuck:     return "stuck";
    case Reason::left:      return "left";
  }
  unreachable();
}

// The start of a host's name, printable, zeros behind it; empty on this host.
using HostName = std::array<char, 16>;
HostName host_name(std::string_view text);  // what is not printable becomes '?'
std::string_view text_of(const HostName& host);

inline constexpr std::size_t kMoreLate = 8;

struct Verdict {
  Reason reason = Reason::none;
  Rank culprit = kNoRank;
  std::int32_t pid = 0;    // of the culprit, as its own /proc knows it
  HostName host{};         // of the culprit
  Rank writer = kNoRank;   // who gave the verdict
  Rank witness = kNoRank;  // mismatch: who called what the culprit did not; else the writer, if it was in a call
  std::optional<CallWords> culprit_call;  // mismatch: the one that does not fit; else the culprit's latest; null if not known
  std::optional<CallWords> witness_call;  // mismatch: what it should have been; else what the witness waited in
  std::uint32_t late = 0;                 // timed out: how many ranks did not come, the culprit among them
  std::array<Rank, kMoreLate> more_late{kNoRank, kNoRank, kNoRank, kNoRank, kNoRank, kNoRank, kNoRank, kNoRank};  // the others
  std::uint32_t signalled = 0;  // stuck: the culprit's latest phase in this call, counted from 1; 0: none, or not known

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// A verdict as it lies in shared memory and goes over a wire.
inline constexpr std::size_t kVerdictWords = 18;
using VerdictWords = std::array<std::uint64_t, kVerdictWords>;
VerdictWords pack(const Verdict& verdict);
// Null unless every field is in its range.
std::optional<Verdict> unpack(const VerdictWords& words, int ranks);

}  // namespace hcomm
