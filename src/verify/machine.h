// Executes all ranks of a trial in one thread, symbolically.
//
// Any order will do: channels are first in, first out between two ranks, steps only grow, and whatever one rank can do
// next stays possible whatever the others do. So each rank runs until it must wait, and if all wait, they would in
// every order. What the order hides, the race check finds.
#pragma once

#include <deque>

#include "verify/world.h"

namespace hcomm {

// Where a rank is in its calls.
struct Runner {
  std::uint32_t rank = 0;
  std::uint32_t call = 0;  // calls.size(): it has returned from the last one
  bool in_call = false;
  int section = 0;  // prologue, body, epilogue
  std::uint32_t chunk = 0;
  std::uint32_t op = 0;
  std::vector<std::uint32_t> flight_of;  // [op]: in this run of the section
  std::vector<std::uint32_t> open;       // flights of this run of the section
  bool has_signalled = false;
  std::uint64_t step = 0;
  bool is_ready = false;                       // in the queue
  std::uint32_t waits_for_flight = kNoFlight;  // why it cannot go on; else it awaits a signal in its op
};

class AbstractMachine {
 public:
  explicit AbstractMachine(const Trial& trial);

  // Once. The calls must have passed check_calls.
  Judgement run();

 private:
  enum class Move : std::uint8_t { moved, waits, returned, refused };

  Move advance(Runner& self);
  Move begin_call(Runner& self);
  Move end_call(Runner& self);
  Move end_section(Runner& self);
  Move run_op(Runner& self);
  Move take_judgement(Judgement judgement);

  bool have_met(Runner& self, std::span<const std::uint32_t> flights);
  void end_flights(Runner& self, std::span<const std::uint32_t> flights);
  bool await(const Runner& self, const Op& op, const Signal*& signal);
  Judgement raise(Runner& self, const Op& op);
  Judgement start(Runner& self);
  Section section_of(const Runner& self) const;
  Access event(const Runner& self, std::uint32_t op);
  void wake(std::uint32_t rank);

  const Trial& trial_;
  World world_;
  std::vector<Runner> runners_;
  std::deque<std::uint32_t> ready_;
  std::vector<std::vector<std::uint32_t>> waiters_;  // [rank]: who awaits its next signal
  Judgement judgement_;
};

}  // namespace hcomm
