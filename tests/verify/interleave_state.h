// Where all ranks of the interpreter are, and what memory holds.
#pragma once

#include <vector>

#include "schedule/op.h"
#include "verify/numbers.h"

namespace hcomm {

struct Message {
  int rank = 0;  // whose op it is
  int peer = 0;
  std::uint32_t op = 0;
  Lane lane = Lane::collective;
  bool is_send = false;
  int order = 0;         // in its channel
  bool done = false;     // send: taken from its source; receive: put into its target
  bool closed = false;   // its section has ended
  std::vector<Number> payload;
};

struct Thread {
  int call = 0;
  int stage = 0;  // 0: before the call, 1 to 3: prologue, body, epilogue, 4: after it
  int chunk = 0;
  std::uint32_t op = 0;
  std::uint32_t half = 0;  // of a combine: 2 * block, + 1 when the sources have been read
  Number read;
  std::uint64_t step = 0;
};

struct State {
  std::vector<Number> memory;
  std::vector<Thread> threads;
  std::vector<Message> messages;
  std::vector<int> orders;     // per channel and side: messages started
  std::uint64_t outputs = 0;   // of all ended calls
};

}  // namespace hcomm
