#include "comm/verdict_text.h"

namespace hcomm {

hcommResult_t result_of(Reason reason) {
  switch (reason) {
    case Reason::none:      return hcommSuccess;
    case Reason::died:      return hcommRemoteError;
    case Reason::timed_out: return hcommTimeout;
    case Reason::mismatch:  return hcommMismatch;
    case Reason::aborted:   return hcommAborted;
    case Reason::broken:    return hcommInternalError;
  }
  unreachable();
}

std::string operation_text(Collective collective, std::uint64_t sequence) {
  return std::string(name(collective)) + " #" + std::to_string(sequence);
}

namespace {

std::string what_happened(const Verdict& verdict) {
  const std::string culprit = "rank " + std::to_string(verdict.culprit) + " (pid " + std::to_string(verdict.pid) + ")";
  switch (verdict.reason) {
    case Reason::none:      return "nothing happened";
    case Reason::died:      return culprit + " died";
    case Reason::timed_out: return culprit + " did not come in time (HCOMM_TIMEOUT, or HCOMM_CONNECT_TIMEOUT when first meeting)";
    case Reason::mismatch:  return culprit + " made a call that does not fit the others'";
    case Reason::aborted:   return culprit + " aborted the communicator";
    case Reason::broken:    return culprit + " left its shared memory in a state that cannot be";
  }
  unreachable();
}

std::string advice(const Verdict& verdict) {
  switch (verdict.reason) {
    case Reason::died:
    case Reason::timed_out:
      return "; destroy this communicator and make a new one without rank " + std::to_string(verdict.culprit);
    case Reason::mismatch:
      return "; compare count, type, op, root and order of the calls on all ranks";
    case Reason::none:
    case Reason::aborted:
    case Reason::broken:
      return "; destroy this communicator";
  }
  unreachable();
}

}  // namespace

std::string verdict_text(const Verdict& verdict, int self, const std::string& here) {
  std::string text = what_happened(verdict);
  if (verdict.writer >= 0 && verdict.writer != self) {
    text += ", as rank " + std::to_string(verdict.writer) + " saw";
    if (verdict.reason != Reason::aborted) text += " in " + operation_text(verdict.collective, verdict.sequence);
  }
  return text + "; this is rank " + std::to_string(self) + " in " + here + advice(verdict);
}

}  // namespace hcomm
