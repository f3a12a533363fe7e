// Goal: a call's plan fits its buffers and slots, covers every element once, and is the same on all ranks.
#include "comm/call_cache.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>

#include "base/random.h"
#include "kernels/combine.h"
#include "schedule/schedule.h"
#include "transport/window.h"

namespace hcomm {
namespace {

const SharedFacts kFacts = {.rank = 0, .ranks = 4, .has_window = true, .slots = 2, .slot_bytes = 4096, .cores = 4};

Settings forced(std::string_view algorithm) {
  Settings settings;
  settings.algo = algorithm;
  return settings;
}

CollectiveCall call_of(Collective collective, std::size_t count, hcommDataType_t dtype = hcommInt32) {
  return {.collective = collective, .count = count, .dtype = dtype};
}

const CachedCall& found(CallCache& cache, const CollectiveCall& call) {
  Result<const CachedCall*> result = cache.find(call);
  INFO(result.status().trail());
  REQUIRE(result.ok());
  return *result.value();
}

std::size_t chunks(std::string_view algorithm, const SharedFacts& facts, const CollectiveCall& call, Settings settings) {
  settings.algo = algorithm;
  CallCache cache(facts, settings);
  return found(cache, call).plan.partition.chunks();
}

// Everything of a plan that ranks must share.
bool same_on_all_ranks(const CachedCall& a, const CachedCall& b) {
  const CallPlan& left = a.plan;
  const CallPlan& right = b.plan;
  bool same = a.algorithm == b.algorithm && *left.problem == *right.problem && *left.shape == *right.shape &&
              left.element_bytes == right.element_bytes && left.partial_bytes == right.partial_bytes &&
              left.unit_bytes == right.unit_bytes && left.inline_slots == right.inline_slots &&
              left.partition.chunks() == right.partition.chunks();
  for (std::size_t chunk = 0; same && chunk < std::min<std::size_t>(left.partition.chunks(), 20); ++chunk) {
    for (int block = 0; block < left.shape->blocks; ++block) {
      const auto which = static_cast<std::size_t>(block);
      same = same && left.partition.block(Side::output, chunk, which) == right.partition.block(Side::output, chunk, which);
    }
  }
  return same;
}

// The blocks of all chunks, one after another, are the whole message; and each has room in a unit.
void check_cover(const CollectiveCall& call, const CallPlan& plan) {
  const auto blocks = static_cast<std::size_t>(plan.shape->blocks);
  const bool keeps_partials = plan.shape->scratch_units > 0;
  const std::size_t widest = keeps_partials ? std::max(plan.element_bytes, plan.partial_bytes) : plan.element_bytes;
  const bool strided = is_strided(call.collective);
  std::size_t covered = 0;
  bool right = true;
  for (std::size_t chunk = 0; chunk < plan.partition.chunks(); ++chunk) {
    std::size_t length = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      const Extent extent = plan.partition.block(Side::output, chunk, block);
      right = right && extent.length * widest <= plan.unit_bytes;
      const std::size_t part = place_of(call.collective, Side::output, static_cast<std::size_t>(plan.problem->ranks), block);
      right = right && extent.offset == (strided ? part * call.count + covered : covered + length);
      length = strided ? extent.length : length + extent.length;
    }
    right = right && length > 0;  // no chunk for nothing
    covered += length;
  }
  CHECK(right);
  CHECK(covered == call.count);
}

void check_room(const SharedFacts& facts, const CallPlan& plan) {
  CHECK(plan.unit_bytes % kCacheLineBytes == 0);
  CHECK(plan.scratch_bytes == static_cast<std::size_t>(plan.shape->scratch_units) * plan.unit_bytes);
  if (!uses_window(*plan.shape)) return;
  CHECK(facts.has_window);
  CHECK(static_cast<std::size_t>(plan.shape->slot_units) * plan.unit_bytes <= facts.slot_bytes);
}

struct Drawn {
  SharedFacts facts;
  Settings settings;
  CollectiveCall call;
};

Drawn draw(Random& random) {
  constexpr const char* kAlgorithms[] = {"adaptive", "adaptive",
                                         "flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree"};
  const auto below = [&](std::uint64_t bound) { return static_cast<std::size_t>(random.below(bound)); };
  Drawn drawn;
  drawn.facts = {.ranks = 1 + static_cast<int>(below(9)),
                 .has_window = below(5) != 0,
                 .slots = 1 + static_cast<int>(below(8)),
                 .slot_bytes = kCacheLineBytes * (1 + below(std::uint64_t{1} << below(13))),
                 .cores = 1 + static_cast<int>(below(8))};
  drawn.settings.algo = kAlgorithms[below(std::size(kAlgorithms))];
  drawn.settings.chunk_bytes = std::size_t{64} << below(17);
  drawn.settings.tuner = below(2) == 0 ? Tuner::model : Tuner::rules;
  drawn.call = call_of(kCollectives[below(std::size(kCollectives))], below(std::uint64_t{1} << below(15)));
  if (drawn.call.collective == Collective::barrier) drawn.call.count = 0;
  drawn.call.dtype = combine_types()[below(combine_types().size())];
  drawn.call.op = combine_ops(drawn.call.dtype)[below(combine_ops(drawn.call.dtype).size())];
  if (has_root(drawn.call.collective)) drawn.call.root = static_cast<int>(below(static_cast<std::uint64_t>(drawn.facts.ranks)));
  return drawn;
}

}  // namespace

TEST_CASE("the same kind of call finds the same plan, wherever its buffers lie") {
  CallCache cache(kFacts, {});
  CollectiveCall call = call_of(Collective::allreduce, 1000);
  const CachedCall* const first = &found(cache, call);
  const Program* const program = first->plan.program;
  int here = 0;
  call.send = &here;
  call.recv = &here;
  CHECK(&found(cache, call) == first);
  CHECK(first->plan.program == program);
  CHECK(first->key.send == nullptr);
  CHECK(first->key.recv == nullptr);
}

TEST_CASE("there are more places when calls meet in one, up to a limit") {
  CallCache cache(kFacts, {});
  const std::size_t at_first = cache.places();
  CHECK(at_first <= 4);
  found(cache, call_of(Collective::allreduce, 1));
  CHECK(cache.places() == at_first);
  for (std::size_t count = 1; count <= 12; ++count) found(cache, call_of(Collective::allreduce, count));
  const std::size_t grown = cache.places();
  CHECK(grown > at_first);
  for (std::size_t count = 1; count <= 1000; ++count) {
    const CachedCall& one = found(cache, call_of(Collective::allreduce, count));
    CHECK(one.key.count == count);
    CHECK(one.plan.partition.block(Side::output, 0, 0).length <= count);
  }
  CHECK(cache.places() == 64);
  cache.learn(kFacts);
  CHECK(cache.places() == at_first);
  CHECK(found(cache, call_of(Collective::allreduce, 7)).key.count == 7);
}

TEST_CASE("what was found stays as the places grow") {
  CallCache cache(kFacts, {});
  std::vector<std::size_t> kept;
  for (std::size_t count = 1; cache.places() < 64; ++count) {
    const std::size_t places = cache.places();
    const Program* const one = found(cache, call_of(Collective::allreduce, count)).plan.program;
    kept.push_back(count);
    if (cache.places() == places) continue;
    for (const std::size_t each : kept) {
      const CachedCall& again = found(cache, call_of(Collective::allreduce, each));
      CHECK(again.key.count == each);
      CHECK(again.plan.program == one);
    }
  }
}

TEST_CASE("whatever a plan depends on makes another kind of call") {
  CallCache cache(kFacts, forced("direct"));
  const auto plan_of = [&](const CollectiveCall& call) { return found(cache, call).plan; };
  const CollectiveCall base = call_of(Collective::allreduce, 100);
  CHECK(plan_of(base).element_bytes == 4);
  CollectiveCall other = base;
  other.dtype = hcommFloat64;
  CHECK(plan_of(other).element_bytes == 8);
  other = base;
  other.op = hcommMax;
  CHECK(plan_of(other).combine == find_combine(hcommInt32, hcommMax).value());
  CHECK(plan_of(base).combine == find_combine(hcommInt32, hcommSum).value());
  other = base;
  other.count = 100'000;
  CHECK(plan_of(other).partition.chunks() > plan_of(base).partition.chunks());
  other = call_of(Collective::broadcast, 100);
  CHECK(plan_of(other).problem->root == 0);
  CHECK(plan_of(other).combine == nullptr);
  other.root = 3;
  CHECK(plan_of(other).problem->root == 3);
}

TEST_CASE("kinds that share a place replace each other, and each find is right") {
  CallCache cache(kFacts, forced("ring"));
  std::set<const CachedCall*> places;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t count = 1; count <= 300; ++count) {
      const CachedCall& entry = found(cache, call_of(Collective::allreduce, count * 1000));
      places.insert(&entry);
      CallCache fresh(kFacts, forced("ring"));
      const CachedCall& expected = found(fresh, call_of(Collective::allreduce, count * 1000));
      CHECK(entry.schedule_hash == expected.schedule_hash);
      CHECK(same_on_all_ranks(entry, expected));
    }
  }
  CHECK(places.size() < 300);  // there were collisions
  CHECK(places.size() > 30);   // and most places are used
}

TEST_CASE("new facts make new plans") {
  SharedFacts facts = kFacts;
  facts.has_window = false;
  CallCache cache(facts, forced("flat"));
  const CollectiveCall call = call_of(Collective::allreduce, 10'000);
  CHECK(cache.find(call).status().code() == hcommInvalidUsage);
  cache.learn(kFacts);
  CHECK(found(cache, call).plan.partition.chunks() == 10);
  facts = kFacts;
  facts.slot_bytes = 8192;
  cache.learn(facts);
  CHECK(found(cache, call).plan.partition.chunks() == 5);
  facts.has_window = false;
  cache.learn(facts);
  CHECK(cache.find(call).status().code() == hcommInvalidUsage);
}

TEST_CASE("what cannot be served is refused, and the refusal is not kept as a plan") {
  CallCache cache(kFacts, {});
  CollectiveCall call = call_of(Collective::allreduce, 10, hcommComplex64);
  call.op = hcommMax;
  for (int turn = 0; turn < 2; ++turn) CHECK(cache.find(call).status().code() == hcommInvalidArgument);
  CHECK(found(cache, call_of(Collective::allgather, 10, hcommInt8)).plan.element_bytes == 1);
}

TEST_CASE("chunks are as long as slots, HCOMM_CHUNK_SIZE and the cache allow") {
  const CollectiveCall allreduce = call_of(Collective::allreduce, 10'000);
  CHECK(chunks("flat", kFacts, allreduce, {}) == 10);    // 1024 elements in a slot
  CHECK(chunks("direct", kFacts, allreduce, {}) == 10);  // 4 blocks of 256
  CHECK(chunks("flat", kFacts, call_of(Collective::allgather, 1000), {}) == 1);
  CHECK(chunks("flat", kFacts, call_of(Collective::reduce_scatter, 1000), {}) == 4);  // 4 parts of 256
  CHECK(chunks("flat", kFacts, call_of(Collective::barrier, 0), {}) == 1);
  CHECK(chunks("flat", kFacts, call_of(Collective::allreduce, 0), {}) == 0);
  CHECK(chunks("ring", kFacts, allreduce, {}) == 1);
  Settings small;
  small.chunk_bytes = 1024;
  CHECK(chunks("flat", kFacts, allreduce, small) == 40);
  CHECK(chunks("ring", kFacts, allreduce, small) == 40);
  SharedFacts large = kFacts;
  large.slot_bytes = std::size_t{1} << 20;
  CHECK(chunks("flat", large, call_of(Collective::allreduce, 1 << 20), {}) == 16);  // 256 KiB of each slot are used
}

TEST_CASE("a plan says what its type and operation ask of sums and results") {
  const auto plan_of = [](hcommDataType_t dtype, hcommRedOp_t op, int ranks) {
    SharedFacts facts = kFacts;
    facts.ranks = ranks;
    CallCache cache(facts, {});
    CollectiveCall call = call_of(Collective::allreduce, 100, dtype);
    call.op = op;
    return found(cache, call).plan;
  };
  const CallPlan wrapping = plan_of(hcommInt8, hcommSum, 3);
  CHECK((wrapping.partial_bytes == 1 && wrapping.sums_are_elements && wrapping.finish_over == 0));
  const CallPlan mean = plan_of(hcommInt8, hcommAvg, 3);
  CHECK((mean.partial_bytes == 8 && !mean.sums_are_elements && mean.finish_over == 3));
  const CallPlan truth = plan_of(hcommBool, hcommSum, 3);
  CHECK((truth.partial_bytes == 1 && truth.sums_are_elements && truth.finish_over == 3));
  CHECK(plan_of(hcommBool, hcommSum, 1).finish_over == 1);   // what a rank alone calls true becomes 1
  CHECK(plan_of(hcommFloat32, hcommAvg, 1).finish_over == 0);  // and its mean is a copy
}

TEST_CASE("slots lie in the step lines exactly when the message fits there") {
  for (int slots = 1; slots <= kMaxSlots; ++slots) {
    SharedFacts facts = kFacts;
    facts.slots = slots;
    const std::size_t payload = StepLine::payload_bytes(slots);
    INFO(slots << " slots, " << payload << " bytes");
    for (const hcommDataType_t dtype : {hcommInt32, hcommFloat64, hcommBfloat16}) {
      CallCache cache(facts, forced("flat"));
      const std::size_t most = payload / element_bytes(dtype);
      for (const Collective collective : {Collective::allreduce, Collective::broadcast, Collective::allgather}) {
        if (most > 0) CHECK(found(cache, call_of(collective, most, dtype)).plan.inline_slots);
        CHECK_FALSE(found(cache, call_of(collective, most + 1, dtype)).plan.inline_slots);
      }
      CHECK_FALSE(found(cache, call_of(Collective::reduce_scatter, 1, dtype)).plan.inline_slots);  // a place for each rank
      CallCache channels(facts, forced("ring"));
      CHECK_FALSE(found(channels, call_of(Collective::allreduce, 1, dtype)).plan.inline_slots);
    }
  }
}

TEST_CASE("only who shows an input that is not inline may show it where it lies") {
  const auto exposes = [](int rank, const char* algorithm, std::size_t count, int root) {
    SharedFacts facts = kFacts;
    facts.rank = rank;
    CallCache cache(facts, forced(algorithm));
    CollectiveCall call = call_of(Collective::broadcast, count);
    call.root = root;
    return found(cache, call).exposes;
  };
  CHECK(exposes(0, "direct", 1000, 0));
  CHECK_FALSE(exposes(0, "direct", 1000, 1));
  CHECK(exposes(1, "direct", 1000, 1));
  CHECK_FALSE(exposes(0, "direct", 1, 0));   // inline
  CHECK_FALSE(exposes(0, "flat", 1000, 0));  // stages always
  CallCache cache(kFacts, {});
  CHECK(found(cache, call_of(Collective::allgather, 100)).input_bytes == 400);
  CHECK(found(cache, call_of(Collective::reduce_scatter, 100)).input_bytes == 1600);
}

TEST_CASE("facts that all ranks share make plans that all ranks share, with room for everything") {
  Random random(7);
  int served = 0;
  for (int trial = 0; trial < 600; ++trial) {
    Drawn drawn = draw(random);
    INFO("trial " << trial << ": " << drawn.settings.algo << " " << name(drawn.call.collective) << " of " << drawn.call.count
                  << " " << name(drawn.call.dtype) << ", " << drawn.facts.ranks << " ranks, slots of "
                  << drawn.facts.slot_bytes << ", chunks of " << drawn.settings.chunk_bytes);
    CallCache first(drawn.facts, drawn.settings);
    Result<const CachedCall*> expected = first.find(drawn.call);
    for (int rank = 0; rank < drawn.facts.ranks; ++rank) {
      drawn.facts.rank = rank;
      CallCache cache(drawn.facts, drawn.settings);
      Result<const CachedCall*> result = cache.find(drawn.call);
      REQUIRE(result.ok() == expected.ok());
      if (!result.ok()) {
        CHECK(result.status().code() == hcommInvalidUsage);
        CHECK(result.status().trail() == expected.status().trail());
        continue;
      }
      const CachedCall& one = *result.value();
      CHECK(same_on_all_ranks(one, *expected.value()));
      CHECK(one.plan.program->rank == rank);
      CHECK(one.schedule_hash == hash(*one.plan.problem, *one.plan.shape, *one.plan.program));
    }
    if (!expected.ok()) continue;
    ++served;
    check_room(drawn.facts, expected.value()->plan);
    if (drawn.call.collective != Collective::barrier) check_cover(drawn.call, expected.value()->plan);
  }
  CHECK(served > 300);
}

}  // namespace hcomm
