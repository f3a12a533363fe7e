#include "verify/interleave.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "schedule/blocks.h"
#include "verify/interleave_state.h"

namespace hcomm {
namespace {

class Explorer {
 public:
  Explorer(const Schedule& schedule, const Setting& setting)
      : schedule_(schedule), setting_(setting), ranks_(schedule.problem.ranks), blocks_(schedule.shape.blocks) {}

  Finding explore() {
    State first;
    first.memory.resize(static_cast<std::size_t>(ranks_ * room()));
    for (std::size_t i = 0; i < first.memory.size(); ++i) first.memory[i] = junk(i);
    first.threads.resize(static_cast<std::size_t>(ranks_));
    first.orders.resize(static_cast<std::size_t>(ranks_ * ranks_ * kLanes * 2));
    std::vector<State> open = {first};
    while (!open.empty() && finding_.fault.empty()) {
      const State state = std::move(open.back());
      open.pop_back();
      if (!seen_.insert(fingerprint(state)).second) continue;
      if (seen_.size() > setting_.max_states) {
        finding_.gave_up = true;
        break;
      }
      expand(state, open);
    }
    finding_.states = seen_.size();
    return finding_;
  }

 private:
  const Program& program(int rank) const { return schedule_.programs[static_cast<std::size_t>(rank)]; }
  Collective collective() const { return schedule_.problem.collective; }
  bool holds(Side side, int rank, int block) const { return held_blocks(schedule_.problem, blocks_, side, rank).has(block); }

  bool shows_input() const { return setting_.windowed && (!setting_.in_place || shows_input_in_place(collective())); }

  // Memory of a rank: input, output, scratch, slots.
  int buffer_size() const { return setting_.chunks * blocks_; }
  int room() const {
    return 2 * buffer_size() + schedule_.shape.scratch_units + schedule_.problem.slots * schedule_.shape.slot_units;
  }
  int epoch(const Thread& thread) const {
    return schedule_.shape.slot_units == 0 ? 0 : thread.call * setting_.chunks + thread.chunk;
  }
  std::size_t input_at(int rank, int chunk, int block) const {
    return static_cast<std::size_t>(rank * room() + chunk * blocks_ + block);
  }
  std::size_t output_at(int rank, int chunk, int block) const {
    const int beneath = setting_.in_place ? input_beneath(schedule_.problem, rank, block) : -1;
    if (beneath >= 0) return input_at(rank, chunk, beneath);
    return input_at(rank, chunk, block) + static_cast<std::size_t>(buffer_size());
  }
  std::size_t address(const Slice& slice, std::uint32_t i, int rank, const Thread& thread) const {
    const int block = static_cast<int>(slice.first + i);
    const int unit = static_cast<int>(slice.place + i);
    const int scratch = rank * room() + 2 * buffer_size();
    const int slots = slice.owner * room() + 2 * buffer_size() + schedule_.shape.scratch_units;
    switch (slice.buffer) {
      case Buffer::input:   return input_at(rank, thread.chunk, block);
      case Buffer::output:  return output_at(rank, thread.chunk, block);
      case Buffer::scratch: return static_cast<std::size_t>(scratch + unit);
      case Buffer::exposed:
        if (shows_input()) return input_at(slice.owner, thread.chunk, block);
        [[fallthrough]];
      case Buffer::slot:
        return static_cast<std::size_t>(slots + epoch(thread) % schedule_.problem.slots * schedule_.shape.slot_units + unit);
    }
    return 0;
  }

  Number contribution(int rank, int call, int chunk, int block) const {
    const auto key = static_cast<std::uint64_t>(((rank * 64 + call) * 64 + chunk) * 64 + block);
    return {mix(key, 1001), mix(key, 1002)};
  }

  // What an output must be: the sum alone, whatever the order.
  bool is_right(int call, int chunk, int block, const Number& found) const {
    switch (collective()) {
      case Collective::barrier:   return true;
      case Collective::broadcast: return found == contribution(schedule_.problem.root, call, chunk, block);
      case Collective::scatter:   return found == contribution(schedule_.problem.root, call, chunk, block);
      case Collective::allgather:
      case Collective::gather:    return found == contribution(block, call, chunk, block);
      case Collective::alltoall:  return found == contribution(block / ranks_, call, chunk, block);
      case Collective::reduce_scatter:
      case Collective::reduce:
      case Collective::allreduce: break;
    }
    std::uint64_t sum = 0;
    for (int one = 0; one < ranks_; ++one) sum += prepare(contribution(one, call, chunk, block)).sum;
    return found.sum == sum * 5 + 7;
  }

  void fail(const std::string& fault) {
    if (finding_.fault.empty()) finding_.fault = fault;
  }

  std::uint64_t fingerprint(State state) const {
    std::uint64_t hash = state.outputs;
    const auto put = [&](std::uint64_t value) { hash = mix(hash, value); };
    for (const Number& number : state.memory) {
      put(number.sum);
      put(number.recipe);
    }
    for (const Thread& thread : state.threads) {
      for (int value : {thread.call, thread.stage, thread.chunk}) put(static_cast<std::uint64_t>(value));
      for (std::uint64_t value : {std::uint64_t{thread.op}, std::uint64_t{thread.half}}) put(value);
      put(thread.read.recipe);
      put(thread.step);
    }
    std::uint64_t unordered = 0;
    for (const Message& message : state.messages) {
      std::uint64_t one = mix(static_cast<std::uint64_t>(message.rank * 64 + message.peer), message.op * 4u + message.is_send);
      one = mix(one, static_cast<std::uint64_t>(message.order * 4 + message.done * 2 + message.closed));
      for (const Number& number : message.payload) one = mix(one, number.recipe);
      unordered += one;
    }
    put(unordered);
    for (int order : state.orders) put(static_cast<std::uint64_t>(order));
    return hash;
  }

  Section section(int rank, const Thread& thread) const {
    const Program& self = program(rank);
    return thread.stage == 1 ? self.prologue : thread.stage == 2 ? self.body : self.epilogue;
  }

  static Message* find(State& state, int rank, std::uint32_t op) {
    for (Message& message : state.messages) {
      if (message.rank == rank && message.op == op && !message.closed) return &message;
    }
    return nullptr;
  }
  static Message* partner(State& state, const Message& of) {
    for (Message& message : state.messages) {
      if (message.rank == of.peer && message.peer == of.rank && message.lane == of.lane && message.is_send != of.is_send &&
          message.order == of.order) {
        return &message;
      }
    }
    return nullptr;
  }

  // A receive ends when its target has the message. A send ends when its source has been taken, and, unless it is buffered, its
  // receive has started: that is gone from the list once it has ended.
  bool has_ended(State& state, const Message& message) const {
    if (!message.done || !message.is_send || setting_.buffered) return message.done;
    return partner(state, message) != nullptr || message.payload.empty();
  }

  // Whether an op touches only what no other rank and no message on its way can touch.
  bool is_private(const State& state, int rank, const Op& op) const {
    const auto seen_by_others = [&](const Slice& slice) {
      return has_owner(slice.buffer) || (setting_.windowed && slice.buffer != Buffer::scratch);
    };
    const auto on_its_way = [&](const Message& message) { return message.rank == rank && !message.done; };
    return std::ranges::none_of(program(rank).sources(op), seen_by_others) &&
           std::ranges::none_of(program(rank).targets(op), seen_by_others) && std::ranges::none_of(state.messages, on_its_way);
  }

  // One step of one rank; false if it must wait. `is_quiet` when no other step can tell whether it came before or after.
  bool step(State& state, int rank, bool& is_quiet) {
    Thread& self = state.threads[static_cast<std::size_t>(rank)];
    is_quiet = false;
    if (self.stage == 0 || self.stage == 4) {
      is_quiet = !setting_.windowed && collective() != Collective::barrier;
      return self.stage == 0 ? enter_call(state, rank, self) : leave_call(state, rank, self);
    }
    const Section current = section(rank, self);
    if (self.op == current.first + current.count) {
      is_quiet = true;
      return leave_section(state, rank, self);
    }
    const Op& op = program(rank).ops[self.op];
    for (std::uint32_t wait : program(rank).waits_of(op)) {
      const Message* message = find(state, rank, wait);
      if (message != nullptr && !has_ended(state, *message)) return false;
    }
    switch (op.kind) {
      case OpKind::send:
      case OpKind::recv:
        is_quiet = op.kind == OpKind::send || is_private(state, rank, op);  // the start of a send touches nothing
        start(state, rank, self, op);
        break;
      case OpKind::combine:
        is_quiet = is_private(state, rank, op);
        return combine_half(state, rank, self, op);
      case OpKind::signal:  signal(self, op); break;
      case OpKind::await:
        if (!reached(state, self, op)) return false;
        is_quiet = true;  // what is reached stays reached
        break;
    }
    ++self.op;
    return true;
  }

  bool enter_call(State& state, int rank, Thread& self) {
    if (self.call == setting_.calls) return false;
    for (int chunk = 0; chunk < setting_.chunks; ++chunk) {
      for (int block = 0; block < blocks_; ++block) {
        if (holds(Side::output, rank, block)) state.memory[output_at(rank, chunk, block)] = junk(5);
      }
      for (int block = 0; block < blocks_; ++block) {
        if (!holds(Side::input, rank, block)) continue;
        state.memory[input_at(rank, chunk, block)] = contribution(rank, self.call, chunk, block);
      }
    }
    for (int unit = 0; unit < schedule_.shape.scratch_units; ++unit) {
      state.memory[static_cast<std::size_t>(rank * room() + 2 * buffer_size() + unit)] = junk(6);
    }
    self.stage = 1;
    self.chunk = 0;
    self.op = section(rank, self).first;
    return true;
  }

  bool leave_call(State& state, int rank, Thread& self) {
    if (collective() == Collective::barrier) check_barrier(state, self);
    for (int chunk = 0; chunk < setting_.chunks; ++chunk) {
      for (int block = 0; block < blocks_; ++block) {
        if (!holds(Side::output, rank, block)) continue;
        const Number found = state.memory[output_at(rank, chunk, block)];
        if (!is_right(self.call, chunk, block, found)) fail("a wrong output on rank " + std::to_string(rank));
        const auto key = static_cast<std::uint64_t>(((self.call * 64 + rank) * 64 + chunk) * 64 + block);
        state.outputs += mix(key, found.recipe);
      }
    }
    for (int i = 0; i < 2 * buffer_size(); ++i) {  // the caller has its buffers back
      state.memory[static_cast<std::size_t>(rank * room() + i)] = junk(static_cast<std::uint64_t>(9 + self.call));
    }
    self.stage = 0;
    ++self.call;
    return true;
  }

  void check_barrier(const State& state, const Thread& self) {
    for (const Thread& other : state.threads) {
      const bool has_come = other.call > self.call || (other.call == self.call && other.stage > 0);
      if (!has_come) fail("a rank leaves the barrier before another has come");
    }
  }

  bool leave_section(State& state, int rank, Thread& self) {
    for (Message& message : state.messages) {
      if (message.rank == rank && !message.closed && !has_ended(state, message)) return false;
    }
    for (Message& message : state.messages) message.closed |= message.rank == rank;
    std::erase_if(state.messages, [&](const Message& message) {
      return message.closed && message.done && (!message.is_send || message.payload.empty());
    });
    if (self.stage == 2 && self.chunk + 1 < setting_.chunks) {
      ++self.chunk;
    } else {
      ++self.stage;
    }
    if (self.stage < 4) self.op = section(rank, self).first;
    return true;
  }

  void start(State& state, int rank, Thread& self, const Op& op) {
    const bool is_send = op.kind == OpKind::send;
    const int from = is_send ? rank : op.peer;
    const int to = is_send ? op.peer : rank;
    const int channel = ((from * ranks_ + to) * kLanes + static_cast<int>(op.lane)) * 2 + (is_send ? 1 : 0);
    int& order = state.orders[static_cast<std::size_t>(channel)];
    state.messages.push_back(
        {.rank = rank, .peer = op.peer, .op = self.op, .lane = op.lane, .is_send = is_send, .order = order++});
    if (is_send) return;
    const Slice& target = program(rank).targets(op)[0];
    for (std::uint32_t i = 0; i < target.count; ++i) state.memory[address(target, i, rank, self)] = junk(4);
  }

  // Takes a message from its source, or puts it into its target; false if it is too early.
  bool move(State& state, Message& message) {
    if (message.done) return false;
    const Thread& self = state.threads[static_cast<std::size_t>(message.rank)];
    const Op& op = program(message.rank).ops[message.op];
    if (message.is_send) {
      const Slice& source = program(message.rank).sources(op)[0];
      for (std::uint32_t i = 0; i < source.count; ++i) {
        message.payload.push_back(state.memory[address(source, i, message.rank, self)]);
      }
      message.payload.push_back({});  // so that even an empty message has something to take away
      message.done = true;
      return true;
    }
    Message* const send = partner(state, message);
    if (send == nullptr || !send->done) return false;
    const Slice& target = program(message.rank).targets(op)[0];
    if (send->payload.size() != target.count + 1u) fail("a message of another length");
    for (std::uint32_t i = 0; i < target.count && i + 1 < send->payload.size(); ++i) {
      state.memory[address(target, i, message.rank, self)] = send->payload[i];
    }
    send->payload.clear();
    message.done = true;
    std::erase_if(state.messages, [](const Message& one) { return one.is_send && one.closed && one.payload.empty(); });
    return true;
  }

  bool combine_half(State& state, int rank, Thread& self, const Op& op) {
    const auto sources = program(rank).sources(op);
    const auto targets = program(rank).targets(op);
    const std::uint32_t block = self.half / 2;
    if (self.half % 2 == 0) {
      std::vector<Number> read;
      for (const Slice& source : sources) {
        const Number number = state.memory[address(source, block, rank, self)];
        read.push_back(source.scaling == Scaling::prepare ? prepare(number) : number);
      }
      self.read = tree(read);
    } else {
      for (const Slice& target : targets) {
        const bool is_copy = sources.size() == 1 && sources[0].scaling == Scaling::none && target.scaling == Scaling::none;
        const std::size_t place = address(target, block, rank, self);
        if (is_copy && place == address(sources[0], block, rank, self)) continue;
        state.memory[place] = target.scaling == Scaling::finish ? finish(self.read) : self.read;
      }
      self.read = {};
    }
    if (++self.half == 2 * sources[0].count) {
      self.half = 0;
      ++self.op;
    }
    return true;
  }

  void signal(Thread& self, const Op& op) {
    const std::uint64_t value = static_cast<std::uint64_t>(epoch(self)) * 4 + static_cast<std::uint64_t>(op.phase);
    if (value <= self.step) fail("a step that does not grow");
    self.step = value;
  }

  bool reached(const State& state, const Thread& self, const Op& op) const {
    const int wanted = epoch(self) - op.back;
    if (wanted < 0) return true;
    return state.threads[static_cast<std::size_t>(op.peer)].step >=
           static_cast<std::uint64_t>(wanted) * 4 + static_cast<std::uint64_t>(op.phase);
  }

  void expand(const State& state, std::vector<State>& open) {
    std::vector<State> next;
    for (int rank = 0; rank < ranks_; ++rank) {
      State after = state;
      bool is_quiet = false;
      if (!step(after, rank, is_quiet)) continue;
      if (is_quiet) {
        open.push_back(std::move(after));
        return;
      }
      next.push_back(std::move(after));
    }
    for (std::size_t i = 0; i < state.messages.size(); ++i) {
      if (state.messages[i].done) continue;
      State after = state;
      if (move(after, after.messages[i])) next.push_back(std::move(after));
    }
    if (next.empty()) end(state);
    for (State& after : next) open.push_back(std::move(after));
  }

  void end(const State& state) {
    const bool all = std::ranges::all_of(state.threads, [&](const Thread& one) { return one.call == setting_.calls; });
    if (!all) return fail("a deadlock");
    if (!state.messages.empty()) return fail("a message that nobody receives");
    if (ended_ && state.outputs != finding_.outputs) return fail("outputs that depend on the interleaving");
    ended_ = true;
    finding_.outputs = state.outputs;
  }

  const Schedule& schedule_;
  const Setting setting_;
  const int ranks_;
  const int blocks_;
  std::unordered_set<std::uint64_t> seen_;
  Finding finding_;
  bool ended_ = false;
};

}  // namespace

Finding run_every_interleaving(const Schedule& schedule, const Setting& setting) {
  return Explorer(schedule, setting).explore();
}

}  // namespace hcomm
