#include "verify/data.h"

#include "schedule/text.h"
#include "verify/race.h"
#include "verify/story.h"

namespace hcomm {
namespace {

Judgement refuse(Fault fault, std::string story) { return {.fault = fault, .story = std::move(story)}; }

Judgement refuse_race(const World& world, const Spot& spot, const Conflict& conflict, const Access& later, bool writes) {
  return refuse(Fault::race, race_story(world.trial, spot, conflict.earlier, conflict.earlier_writes, later, writes));
}

// Where an exposed buffer lies is itself memory: its owner writes it with each copy into it, its peers read it
// whenever they name the buffer.
Spot record_spot(World& world, std::uint32_t owner, const Access& who) {
  const std::uint32_t slot = world.trial.slot_index(who.call, who.chunk);
  return {.cell = &world.memory.room(owner, slot).record, .region = Region::record, .owner = owner, .slot = slot};
}

Judgement read_record(World& world, const Access& who, const Slice& slice) {
  const auto owner = static_cast<std::uint32_t>(slice.owner);
  if (slice.buffer != Buffer::exposed || owner == who.rank) return {};
  const Spot spot = record_spot(world, owner, who);
  if (spot.cell->value != world.trial.epoch(who.call, who.chunk) + 1) {
    return refuse(Fault::race, "race on " + spot_story(spot) + ": " + op_story(world.trial, who) +
                                   " reads it, but rank " + std::to_string(owner) + " may not have shown it in this epoch yet");
  }
  const auto conflict = note_read(*spot.cell, who, world.clocks[who.rank], world.flights);
  return conflict ? refuse_race(world, spot, *conflict, who, false) : Judgement{};
}

Judgement write_record(World& world, const Access& who) {
  const Spot spot = record_spot(world, who.rank, who);
  const auto conflict = note_write(*spot.cell, who, world.clocks[who.rank], world.flights);
  if (conflict) return refuse_race(world, spot, *conflict, who, true);
  spot.cell->value = static_cast<Value>(world.trial.epoch(who.call, who.chunk) + 1);
  return {};
}

Judgement read_block(World& world, const Access& who, const Slice& slice, std::uint32_t i, Value& value) {
  const auto found = world.memory.find(slice, i, who.rank, who.call, who.chunk);
  HCOMM_ASSERT(found);  // read_record has seen that the owner is in this call
  const Spot& spot = *found;
  if (const auto conflict = note_read(*spot.cell, who, world.clocks[who.rank], world.flights)) {
    return refuse_race(world, spot, *conflict, who, false);
  }
  if (spot.region == Region::slot) note_slot_read(world.memory.room(spot.owner, spot.slot), who, world.ranks());
  const Cell& cell = *spot.cell;
  if (cell.value == kUnwritten) {
    return refuse(Fault::bounds, op_story(world.trial, who) + " reads " + spot_story(spot) + ", which nobody has written");
  }
  if (cell.format != slice.format) {
    return refuse(Fault::matching, op_story(world.trial, who) + " reads " + spot_story(spot) +
                                       " in another format than it was written in by " + op_story(world.trial, cell.write));
  }
  if (cell.block != slice.first + i) {
    return refuse(Fault::contribution, op_story(world.trial, who) + " takes " + spot_story(spot) + " for block " +
                                           std::to_string(slice.first + i) + ", but it holds block " +
                                           std::to_string(cell.block) + ", written by " + op_story(world.trial, cell.write));
  }
  value = cell.value;
  return {};
}

Judgement claim_block(World& world, const Access& who, const Spot& spot) {
  if (const auto conflict = note_write(*spot.cell, who, world.clocks[who.rank], world.flights)) {
    return refuse_race(world, spot, *conflict, who, true);
  }
  if (spot.region != Region::slot) return {};
  SlotRoom& room = world.memory.room(spot.owner, spot.slot);
  const auto conflict = note_slot_write(room, who, world.clocks[who.rank], world.flights);
  return conflict ? refuse_race(world, spot, *conflict, who, true) : Judgement{};
}

void store(const Spot& spot, const Slice& slice, std::uint32_t i, Value value) {
  spot.cell->value = value;
  spot.cell->block = slice.first + i;
  spot.cell->format = slice.format;
}

// Cells of one buffer lie side by side, so two slices overlap as their first cells tell.
bool overlap(const Spot& a, const Spot& b, std::uint32_t count) {
  const auto first = reinterpret_cast<std::uintptr_t>(a.cell);
  const auto second = reinterpret_cast<std::uintptr_t>(b.cell);
  return (first < second ? second - first : first - second) < count * sizeof(Cell);
}

Judgement check_overlaps(World& world, const Access& who) {
  const Program& program = world.program(who);
  const auto spot_of = [&](const Slice& slice) { return *world.memory.find(slice, 0, who.rank, who.call, who.chunk); };
  std::vector<Spot> targets;
  for (const Slice& target : program.targets(world.op(who))) {
    const Spot spot = spot_of(target);
    for (const Spot& other : targets) {
      if (!overlap(spot, other, target.count)) continue;
      return refuse(Fault::race, op_story(world.trial, who) + " has two targets that share " + spot_story(spot));
    }
    targets.push_back(spot);
    for (const Slice& source : program.sources(world.op(who))) {
      const Spot other = spot_of(source);
      const bool same = other.cell == spot.cell && source.format == target.format;
      if (same || !overlap(spot, other, target.count)) continue;
      return refuse(Fault::race, op_story(world.trial, who) + ": a source and a target overlap in part, on " + spot_story(spot));
    }
  }
  return {};
}

// What a source gives to the combination.
Judgement take_source(World& world, const Access& who, const Slice& slice, bool is_alone, Value& value) {
  const Stage stage = world.expressions.stage(value);
  const auto wrong = [&](const std::string& why) {
    const std::string source = to_text(slice, static_cast<int>(who.rank));
    return refuse(Fault::contribution, op_story(world.trial, who) + ": its source " + source + " holds " +
                                           world.expressions.text(value) + ", " + why);
  };
  if (slice.scaling == Scaling::prepare) {
    if (stage != Stage::raw) return wrong("which is prepared already: only a rank's own contribution is prepared, once");
    value = world.expressions.prepared(value);
    return {};
  }
  if (is_alone || stage == Stage::prepared) return {};
  if (stage == Stage::raw) return wrong("which is combined without having been prepared");
  return wrong("which is combined after it was finished");
}

// A mean of integers is summed in wider ones. What one rank alone contributes fits its own type.
bool is_unfinished_sum(const World& world, Value value) {
  return world.expressions.stage(value) == Stage::prepared && world.expressions.contributions(value, 2).size() > 1;
}

Judgement combine_block(World& world, const Access& who, std::uint32_t i) {
  const Program& program = world.program(who);
  const auto sources = program.sources(world.op(who));
  std::vector<Value> values(sources.size());
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (Judgement judgement = read_block(world, who, sources[k], i, values[k]); !judgement.proved()) return judgement;
    const bool is_alone = sources.size() == 1;
    if (Judgement judgement = take_source(world, who, sources[k], is_alone, values[k]); !judgement.proved()) return judgement;
  }
  const Value combined = world.expressions.combined(values);
  const bool is_plain = sources.size() == 1 && sources[0].scaling == Scaling::none;
  for (const Slice& target : program.targets(world.op(who))) {
    const Spot spot = *world.memory.find(target, i, who.rank, who.call, who.chunk);
    const Spot source = *world.memory.find(sources[0], i, who.rank, who.call, who.chunk);
    const bool is_onto_itself = is_plain && target.scaling == Scaling::none && spot.cell == source.cell;
    if (is_onto_itself) continue;  // nothing moves
    Value value = combined;
    if (target.scaling == Scaling::finish) {
      if (world.expressions.stage(value) != Stage::prepared) {
        return refuse(Fault::contribution, op_story(world.trial, who) + " finishes " + world.expressions.text(value) +
                                               ", which is not a prepared and unfinished result");
      }
      value = world.expressions.finished(value);
    }
    const bool is_result = target.buffer == Buffer::output;  // judged when the caller takes it
    if (!is_result && target.format == Format::element && is_unfinished_sum(world, value)) {
      return refuse(Fault::contribution, op_story(world.trial, who) + " stores " + world.expressions.text(value) +
                                             ", an unfinished sum, as elements, which may have no room for it: .sum has");
    }
    if (target.format != Format::partial) value = world.expressions.rounded(value);
    if (Judgement judgement = claim_block(world, who, spot); !judgement.proved()) return judgement;
    store(spot, target, i, value);
  }
  return {};
}

}  // namespace

Judgement run_combine(World& world, const Access& who) {
  const Program& program = world.program(who);
  const Op& op = world.op(who);
  const auto sources = program.sources(op);
  const auto targets = program.targets(op);
  if (sources.size() > 1 && !reduces(world.trial.schedule(who.call).problem.collective)) {
    return refuse(Fault::contribution,
                  op_story(world.trial, who) + " combines several sources, but this collective only moves blocks");
  }
  for (const Slice& source : sources) {
    if (Judgement judgement = read_record(world, who, source); !judgement.proved()) return judgement;
  }
  if (Judgement judgement = check_overlaps(world, who); !judgement.proved()) return judgement;
  for (std::uint32_t i = 0; i < sources[0].count; ++i) {
    if (Judgement judgement = combine_block(world, who, i); !judgement.proved()) return judgement;
  }
  return targets[0].buffer == Buffer::exposed ? write_record(world, who) : Judgement{};
}

Judgement start_flight(World& world, const Access& who, std::uint32_t& number) {
  const Program& program = world.program(who);
  const Op& op = world.op(who);
  Flight flight{.who = who, .is_send = op.kind == OpKind::send, .peer = static_cast<std::uint32_t>(op.peer), .lane = op.lane};
  flight.slice = flight.is_send ? program.sources(op)[0] : program.targets(op)[0];
  if (flight.is_send) flight.clock = world.clocks[who.rank];
  number = world.flights.start(std::move(flight));
  Flight& started = world.flights[number];
  if (started.is_send) {
    if (Judgement judgement = read_record(world, started.who, started.slice); !judgement.proved()) return judgement;
    started.values.resize(started.slice.count);
  }
  for (std::uint32_t i = 0; i < started.slice.count; ++i) {
    if (started.is_send) {
      Judgement judgement = read_block(world, started.who, started.slice, i, started.values[i]);
      if (!judgement.proved()) return judgement;
    } else {
      const Spot spot = *world.memory.find(started.slice, i, who.rank, who.call, who.chunk);
      if (Judgement judgement = claim_block(world, started.who, spot); !judgement.proved()) return judgement;
      store(spot, started.slice, i, kUnwritten);
    }
  }
  return {};
}

Judgement deliver(World& world, const Flights::Pair& pair) {
  Flight& send = world.flights[pair.send];
  const Flight& recv = world.flights[pair.recv];
  const auto mismatch = [&](const std::string& why) {
    return refuse(Fault::matching, op_story(world.trial, send.who) + " meets " + op_story(world.trial, recv.who) + ": " + why);
  };
  if (send.who.call != recv.who.call) return mismatch("a message must be received in the call that sent it");
  if (send.slice.count != recv.slice.count) return mismatch("the lengths differ");
  if (send.slice.count != 0 && send.slice.first != recv.slice.first) return mismatch("the blocks differ");
  if (send.slice.count != 0 && send.slice.format != recv.slice.format) return mismatch("the formats differ");
  for (std::uint32_t i = 0; i < recv.slice.count; ++i) {
    store(*world.memory.find(recv.slice, i, recv.who.rank, recv.who.call, recv.who.chunk), recv.slice, i, send.values[i]);
  }
  send.values.clear();
  return {};
}

}  // namespace hcomm
