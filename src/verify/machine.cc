#include "verify/machine.h"

#include <utility>

#include "verify/data.h"
#include "verify/outcome.h"
#include "verify/stall.h"
#include "verify/story.h"

namespace hcomm {

AbstractMachine::AbstractMachine(const Trial& trial) : trial_(trial), world_(trial), waiters_(world_.ranks()) {
  runners_.resize(world_.ranks());
  for (std::uint32_t rank = 0; rank < runners_.size(); ++rank) runners_[rank].rank = rank;
}

Judgement AbstractMachine::run() {
  for (const Runner& runner : runners_) wake(runner.rank);
  while (!ready_.empty()) {
    Runner& self = runners_[ready_.front()];
    ready_.pop_front();
    self.is_ready = false;
    Move move = Move::moved;
    while (move == Move::moved) move = advance(self);
    if (move == Move::refused) return judgement_;
  }
  return judge_stall(world_, runners_);
}

void AbstractMachine::wake(std::uint32_t rank) {
  if (runners_[rank].is_ready) return;
  runners_[rank].is_ready = true;
  ready_.push_back(rank);
}

Access AbstractMachine::event(const Runner& self, std::uint32_t op) {
  const Time time = ++world_.clocks[self.rank][self.rank];
  return {.rank = self.rank, .op = op, .call = self.call, .chunk = self.chunk, .time = time};
}

Section AbstractMachine::section_of(const Runner& self) const {
  const Program& program = trial_.schedule(self.call).programs[self.rank];
  return self.section == 0 ? program.prologue : self.section == 1 ? program.body : program.epilogue;
}

AbstractMachine::Move AbstractMachine::take_judgement(Judgement judgement) {
  judgement_ = std::move(judgement);
  return judgement_.proved() ? Move::moved : Move::refused;
}

AbstractMachine::Move AbstractMachine::advance(Runner& self) {
  if (self.call == trial_.calls.size()) return Move::returned;
  if (!self.in_call) return begin_call(self);
  if (self.section == 3) return end_call(self);
  const Section section = section_of(self);
  return self.op == section.first + section.count ? end_section(self) : run_op(self);
}

AbstractMachine::Move AbstractMachine::begin_call(Runner& self) {
  if (trial_.calls[self.call].chunks == 0) {  // nothing to do, no epoch
    ++self.call;
    return Move::moved;
  }
  self.in_call = true;
  self.section = 0;
  self.chunk = 0;
  self.op = section_of(self).first;
  self.flight_of.assign(trial_.schedule(self.call).programs[self.rank].ops.size(), kNoFlight);
  const Access caller = event(self, kCallerFills);
  world_.start_times[self.call][self.rank] = caller.time;
  world_.memory.begin_call(self.rank, self.call);
  fill_inputs(world_, caller);
  return Move::moved;
}

AbstractMachine::Move AbstractMachine::end_call(Runner& self) {
  const Access caller = event(self, kCallerReturns);
  Judgement judgement = take_outputs(world_, caller);
  world_.memory.end_call(self.rank);
  self.in_call = false;
  ++self.call;
  return take_judgement(std::move(judgement));
}

bool AbstractMachine::have_met(Runner& self, std::span<const std::uint32_t> flights) {
  const auto open = [&](std::uint32_t flight) { return !world_.flights[flight].met; };
  const auto first = std::ranges::find_if(flights, open);
  self.waits_for_flight = first == flights.end() ? kNoFlight : *first;
  return first == flights.end();
}

// They are known to have ended from this event on, and what the sender of a received message knew is known as well.
void AbstractMachine::end_flights(Runner& self, std::span<const std::uint32_t> flights) {
  VectorClock& clock = world_.clocks[self.rank];
  for (std::uint32_t number : flights) {
    Flight& flight = world_.flights[number];
    if (flight.end_time != 0) continue;
    flight.end_time = clock[self.rank];
    if (!flight.is_send) merge(clock, flight.clock);
    flight.clock = {};
  }
}

AbstractMachine::Move AbstractMachine::end_section(Runner& self) {
  if (!have_met(self, self.open)) return Move::waits;
  ++world_.clocks[self.rank][self.rank];
  end_flights(self, self.open);
  for (std::uint32_t flight : self.open) self.flight_of[world_.flights[flight].who.op] = kNoFlight;
  self.open.clear();
  const auto last_chunk = static_cast<std::uint32_t>(trial_.calls[self.call].chunks) - 1;
  if (self.section == 1 && self.chunk < last_chunk) {
    ++self.chunk;
  } else {
    ++self.section;
  }
  if (self.section < 3) self.op = section_of(self).first;
  return Move::moved;
}

AbstractMachine::Move AbstractMachine::run_op(Runner& self) {
  const Program& program = trial_.schedule(self.call).programs[self.rank];
  const Op& op = program.ops[self.op];
  std::vector<std::uint32_t> waits;
  for (std::uint32_t wait : program.waits_of(op)) waits.push_back(self.flight_of[wait]);
  if (!have_met(self, waits)) return Move::waits;
  const Signal* signal = nullptr;
  if (op.kind == OpKind::await && !await(self, op, signal)) {
    waiters_[static_cast<std::size_t>(op.peer)].push_back(self.rank);
    return Move::waits;
  }
  const Access who = event(self, self.op);
  end_flights(self, waits);
  Judgement judgement;
  switch (op.kind) {
    case OpKind::send:
    case OpKind::recv:    judgement = start(self); break;
    case OpKind::combine: judgement = run_combine(world_, who); break;
    case OpKind::signal:  judgement = raise(self, op); break;
    case OpKind::await: {
      VectorClock& clock = world_.clocks[self.rank];
      if (signal != nullptr && clock[static_cast<std::size_t>(op.peer)] < signal->time) merge(clock, signal->clock);
      break;
    }
  }
  ++self.op;
  return take_judgement(std::move(judgement));
}

// Whether the await can end now, and the earliest signal that lets it: a later one is not sure to be the one it saw. No signal
// is needed for an epoch before the communicator's first.
bool AbstractMachine::await(const Runner& self, const Op& op, const Signal*& signal) {
  const std::uint64_t epoch = trial_.epoch(self.call, self.chunk);
  if (epoch < op.back) return true;
  const auto& signals = world_.signals[static_cast<std::size_t>(op.peer)];
  const auto first = std::ranges::lower_bound(signals, step_value(epoch - op.back, op.phase), {}, &Signal::step);
  if (first == signals.end()) return false;
  signal = &*first;
  return true;
}

Judgement AbstractMachine::raise(Runner& self, const Op& op) {
  const std::uint64_t step = step_value(trial_.epoch(self.call, self.chunk), op.phase);
  const VectorClock& clock = world_.clocks[self.rank];
  if (self.has_signalled && step <= self.step) {
    const Access who{.rank = self.rank, .op = self.op, .call = self.call, .chunk = self.chunk};
    return {.fault = Fault::step,
            .story = op_story(trial_, who) + " raises the step to " + std::to_string(step) + ", but it is " +
                     std::to_string(self.step) + " already: a step only grows"};
  }
  self.has_signalled = true;
  self.step = step;
  world_.signals[self.rank].push_back({.step = step, .time = clock[self.rank], .clock = clock});
  for (std::uint32_t waiter : std::exchange(waiters_[self.rank], {})) wake(waiter);
  return {};
}

Judgement AbstractMachine::start(Runner& self) {
  const Access who{.rank = self.rank,
                   .op = self.op,
                   .call = self.call,
                   .chunk = self.chunk,
                   .time = world_.clocks[self.rank][self.rank]};
  std::uint32_t flight = kNoFlight;
  if (Judgement judgement = start_flight(world_, who, flight); !judgement.proved()) return judgement;
  self.flight_of[self.op] = flight;
  self.open.push_back(flight);
  const auto pair = world_.flights.meet(flight);
  if (!pair) return {};
  if (Judgement judgement = deliver(world_, *pair); !judgement.proved()) return judgement;
  wake(world_.flights[pair->send].who.rank);
  wake(world_.flights[pair->recv].who.rank);
  return {};
}

}  // namespace hcomm
