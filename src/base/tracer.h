// What happened, for whoever watches. One object that may do nothing, so that nobody else needs an `if`.
//
//   Threads:  called in the thread that runs the call; communicators of several threads may share a tracer.
//   Blocking: must not; its time counts as the call's.
//   Lifetime: the views of a CallTrace end with the call of the hook.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hcomm/types.h"

namespace hcomm {

struct CallTrace {
  std::uint64_t sequence = 0;       // the operation's number in its communicator, from 0
  std::uint64_t schedule_hash = 0;  // of the program that this rank runs
  std::string_view algorithm;
  std::size_t bytes = 0;
  std::uint64_t chunks = 0;
  hcommResult_t result = hcommSuccess;  // known when the call has ended; hcommInProgress before
};

class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual void call_started(const CallTrace&) {}
  virtual void call_ended(const CallTrace&) {}
};

}  // namespace hcomm
