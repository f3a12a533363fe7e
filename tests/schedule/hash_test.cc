#include <catch2/catch.hpp>

#include <functional>
#include <set>

#include "schedule/samples.h"

namespace hcomm {

TEST_CASE("the hash of a schedule is that of all its programs, in their order") {
  Schedule schedule = sample();
  const std::uint64_t original = hash(schedule);
  CHECK(hash(schedule) == original);
  schedule.algorithm += "x";  // a name moves nothing
  CHECK(hash(schedule) == original);
  for (std::size_t rank = 0; rank < schedule.programs.size(); ++rank) {
    Schedule changed = schedule;
    ++changed.programs[rank].rank;
    CHECK(hash(changed) != original);
  }
}

TEST_CASE("every field changes the hash, each in its own way") {
  const Schedule original = sample();
  std::set<std::uint64_t> hashes;
  const auto add = [&](const std::function<void(Problem&, Shape&, Program&)>& change) {
    Schedule schedule = original;
    change(schedule.problem, schedule.shape, schedule.programs[0]);
    return hashes.insert(hash(schedule.problem, schedule.shape, schedule.programs[0])).second;
  };
  CHECK(add([](Problem&, Shape&, Program&) {}));
  CHECK_FALSE(add([](Problem&, Shape&, Program&) {}));
  CHECK(add([](Problem& p, Shape&, Program&) { p.collective = Collective::barrier; }));
  CHECK(add([](Problem& p, Shape&, Program&) { ++p.ranks; }));
  CHECK(add([](Problem& p, Shape&, Program&) { ++p.root; }));
  CHECK(add([](Problem& p, Shape&, Program&) { ++p.slots; }));
  CHECK(add([](Problem&, Shape& s, Program&) { ++s.blocks; }));
  CHECK(add([](Problem&, Shape& s, Program&) { ++s.scratch_units; }));
  CHECK(add([](Problem&, Shape& s, Program&) { ++s.slot_units; }));
  CHECK(add([](Problem&, Shape&, Program& p) { ++p.rank; }));
  for (Section Program::* section : {&Program::prologue, &Program::body, &Program::epilogue}) {
    CHECK(add([&](Problem&, Shape&, Program& p) { ++(p.*section).first; }));
    CHECK(add([&](Problem&, Shape&, Program& p) { ++(p.*section).count; }));
  }
  CHECK(add([](Problem&, Shape&, Program& p) { p.ops.emplace_back(); }));
  CHECK(add([](Problem&, Shape&, Program& p) { p.slices.emplace_back(); }));
  CHECK(add([](Problem&, Shape&, Program& p) { p.waits.push_back(1); }));
  for (std::size_t i : {std::size_t{0}, original.programs[0].ops.size() - 1}) {
    const auto op = [&](auto&& change) { return add([&](Problem&, Shape&, Program& p) { change(p.ops[i]); }); };
    CHECK(op([](Op& o) { o.kind = OpKind::signal; }));
    CHECK(op([](Op& o) { o.phase = Phase::finished; }));
    CHECK(op([](Op& o) { o.back = 1; }));
    CHECK(op([](Op& o) { o.lane = Lane::control; }));
    CHECK(op([](Op& o) { o.peer += 1; }));
    CHECK(op([](Op& o) { ++o.first_source; }));
    CHECK(op([](Op& o) { ++o.source_count; }));
    CHECK(op([](Op& o) { ++o.first_target; }));
    CHECK(op([](Op& o) { ++o.target_count; }));
    CHECK(op([](Op& o) { ++o.first_wait; }));
    CHECK(op([](Op& o) { ++o.wait_count; }));
  }
  for (std::size_t i : {std::size_t{0}, original.programs[0].slices.size() - 1}) {
    const auto slice = [&](auto&& change) { return add([&](Problem&, Shape&, Program& p) { change(p.slices[i]); }); };
    CHECK(slice([](Slice& s) { s.buffer = Buffer::slot; }));
    CHECK(slice([](Slice& s) { s.format = Format::partial; }));
    CHECK(slice([](Slice& s) { s.scaling = Scaling::prepare; }));
    CHECK(slice([](Slice& s) { ++s.owner; }));
    CHECK(slice([](Slice& s) { ++s.first; }));
    CHECK(slice([](Slice& s) { ++s.count; }));
    CHECK(slice([](Slice& s) { ++s.place; }));
  }
}

TEST_CASE("the hash is the same on every machine and for ever") {
  const Schedule schedule = sample();
  CHECK(hash(schedule.problem, schedule.shape, schedule.programs[0]) == 0x572a008c78115356u);
}

}  // namespace hcomm
