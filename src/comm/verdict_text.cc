#include "comm/verdict_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "kernels/combine.h"
#include "schedule/binding.h"
#include "schedule/op.h"

namespace hcomm {

hcommResult_t result_of(Reason reason) {
  switch (reason) {
    case Reason::none:      return hcommSuccess;
    case Reason::died:
    case Reason::left:      return hcommRemoteError;
    case Reason::timed_out:
    case Reason::stuck:     return hcommTimeout;
    case Reason::mismatch:  return hcommMismatch;
    case Reason::aborted:   return hcommAborted;
    case Reason::broken:    return hcommInternalError;
  }
  unreachable();
}

namespace {

// Of lengths: enough to see that two are not the same.
std::string short_hash(std::uint64_t hash) {
  std::array<char, 8> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash >> 32, 16).ptr;
  return "#" + std::string(digits.data(), end);
}

}  // namespace

std::string call_text(const CallWords& call) {
  std::string text(name(call.collective));
  if (call.collective == Collective::barrier) return text;
  text += call.unequal ? "_v(" : "(count " + std::to_string(call.count) + ", ";
  if (call.unequal && !lengths_are_private(call.collective)) text += "counts " + short_hash(call.count) + ", ";
  text += std::string(name(call.dtype));
  if (reduces(call.collective)) text += ", " + std::string(name(call.op));
  if (has_root(call.collective)) text += ", root " + std::to_string(call.root);
  return text + ")";
}

namespace {

// Users count from 0 behind the ranks' first meeting.
std::string number_text(const CallWords& call) {
  return call.number == 0 ? "the first meeting" : "operation " + std::to_string(call.number - 1);
}

std::string rank_text(Rank rank) { return "rank " + std::to_string(rank); }

std::string culprit_text(const Verdict& verdict) {
  std::string text = rank_text(verdict.culprit) + " (pid " + std::to_string(verdict.pid);
  if (!text_of(verdict.host).empty()) text.append(" on ").append(text_of(verdict.host));
  return text + ")";
}

std::string both_calls(const Verdict& verdict) {
  const std::string culprit = rank_text(verdict.culprit), witness = rank_text(verdict.witness);
  const std::string start = culprit + " made another call than " + witness + ": ";
  if (!verdict.witness_call) return start + "neither is known any more";
  const CallWords& right = *verdict.witness_call;
  if (!verdict.culprit_call) return start + witness + " is in " + operation_text(right) + "; the other is no longer known";
  const CallWords& wrong = *verdict.culprit_call;
  if (right.number == wrong.number) {
    return start + number_text(right) + " is " + call_text(right) + " on " + witness + " and " + call_text(wrong) + " on " +
           culprit;
  }
  return start + "they parted some calls ago; " + witness + " is in " + operation_text(right) + " and " + culprit + " in " +
         operation_text(wrong);
}

// "rank 2 (pid 77), 3, 5 and 4 more"
std::string late_text(const Verdict& verdict) {
  std::string text = culprit_text(verdict);
  std::uint32_t named = 1;
  for (const Rank rank : verdict.more_late) {
    if (rank == kNoRank) continue;
    text += ", " + std::to_string(rank);
    ++named;
  }
  if (verdict.late > named) text += " and " + std::to_string(verdict.late - named) + " more";
  return text;
}

// Nothing where ranks signal nothing, as they do over channels.
std::string phase_text(const Verdict& verdict) {
  if (verdict.signalled == 0) return "";
  return ", after its signal '" + std::string(name(static_cast<Phase>(verdict.signalled))) + "'";
}

std::string what_happened(const Verdict& verdict) {
  const std::string culprit = culprit_text(verdict);
  switch (verdict.reason) {
    case Reason::none:      return "nothing happened";
    case Reason::died:      return culprit + " died";
    case Reason::left:      return culprit + " left the communicator";
    case Reason::timed_out:
      return late_text(verdict) + " did not come in time (HCOMM_TIMEOUT, or HCOMM_CONNECT_TIMEOUT when first meeting)";
    case Reason::stuck:
      return culprit + " is stuck: it came, and has stood still for HCOMM_PEER_TIMEOUT" + phase_text(verdict);
    case Reason::mismatch:  return both_calls(verdict);
    case Reason::aborted:   return culprit + " aborted the communicator";
    case Reason::broken:    return culprit + " left its shared memory in a state that cannot be";
  }
  unreachable();
}

// What the culprit last did, and who saw that it did no more.
std::string circumstances(const Verdict& verdict, Rank self) {
  std::string text;
  const bool told = verdict.reason == Reason::mismatch || verdict.reason == Reason::none;
  if (!told && verdict.culprit_call) text += "; its latest call is " + operation_text(*verdict.culprit_call);
  if (verdict.writer == kNoRank || verdict.writer == self) return text;
  text += ", as " + rank_text(verdict.writer) + " saw";
  if (!told && verdict.witness_call) text += " in " + operation_text(*verdict.witness_call);
  return text;
}

std::string advice(const Verdict& verdict) {
  switch (verdict.reason) {
    case Reason::died:
    case Reason::left:
    case Reason::timed_out:
    case Reason::stuck:
      return "; destroy this communicator and make a new one without rank " + std::to_string(verdict.culprit);
    case Reason::mismatch:
      return "; all ranks must make the same calls in the same order, with the same count, type, op and root";
    case Reason::none:
    case Reason::aborted:
    case Reason::broken:
      return "; destroy this communicator";
  }
  unreachable();
}

}  // namespace

std::string operation_text(const CallWords& call) {
  return call.number == 0 ? number_text(call) : number_text(call) + ", " + call_text(call);
}

std::string verdict_text(const Verdict& verdict, int self, const std::string& here) {
  return what_happened(verdict) + circumstances(verdict, self) + "; this is rank " + std::to_string(self) + " in " + here +
         advice(verdict);
}

}  // namespace hcomm
