// The time of a call is the work of its busiest rank, times the ranks that share a core, plus the waiting:
//
//   work     operations, flags, messages, and the lines each slice loads or stores, by where they lie
//   waiting  rounds times what it takes until a peer's news arrive: the way between two cores, or, if ranks share
//            cores, a hand-over to each of the ranks on this core
//
// In a broadcast chunks follow each other along the ranks, so the length of the way is paid once, not per chunk.
#include "plan/predict.h"

#include <algorithm>

#include "schedule/binding.h"

namespace hcomm {
namespace {

// What one rank does in the whole call.
struct Work {
  double ops = 0;
  double awaits = 0;
  double messages = 0;        // sends and receives
  double receives = 0;
  double bytes = 0;           // loaded and stored
  double line_ns = 0;         // what that costs
  bool acknowledged = false;  // the last round is in the epilogue: once per call
};

// Counts what a program does with blocks of `block_bytes`: the sum of a block's bytes over all chunks.
class Counter {
 public:
  Counter(const PlanRequest& request, const Program& program, double block_bytes)
      : request_(request), program_(program), block_bytes_(block_bytes) {}

  void add(const Section& section, double times) {
    for (const Op& op : program_.section(section)) {
      work_.ops += times;
      switch (op.kind) {
        case OpKind::await:
          work_.awaits += times;
          break;
        case OpKind::send:
          work_.messages += times;
          touch(program_.sources(op).front(), request_.costs.load_ns);
          touch(program_.sources(op).front(), request_.costs.show_ns);
          break;
        case OpKind::recv:
          work_.messages += times;
          work_.receives += times;
          touch(program_.targets(op).front(), request_.costs.peer_load_ns);
          touch(program_.targets(op).front(), request_.costs.store_ns);
          break;
        case OpKind::combine:
          for (const Slice& source : program_.sources(op)) touch(source, load_ns(source) * share_of(op));
          for (const Slice& target : program_.targets(op)) touch(target, store_ns(target) * share_of(op));
          break;
        case OpKind::signal:
          break;
      }
    }
  }

  const Work& work() const { return work_; }

 private:
  double share_of(const Op& op) const {
    return program_.targets(op).front().buffer == Buffer::exposed ? request_.costs.staged_share : 1;
  }
  double load_ns(const Slice& slice) const {
    return slice.owner == program_.rank ? request_.costs.load_ns : request_.costs.peer_load_ns;
  }
  double store_ns(const Slice& slice) const {
    return has_owner(slice.buffer) ? request_.costs.show_ns : request_.costs.store_ns;
  }
  void touch(const Slice& slice, double ns_per_line) {
    double bytes = slice.count * block_bytes_;
    if (slice.format != Format::element) {
      const std::size_t wide = slice.format == Format::sum ? request_.sum_bytes : request_.partial_bytes;
      bytes *= static_cast<double>(wide) / static_cast<double>(request_.element_bytes);
    }
    work_.bytes += bytes;
    work_.line_ns += bytes / static_cast<double>(kCacheLineBytes) * ns_per_line;
  }

  const PlanRequest& request_;
  const Program& program_;
  const double block_bytes_;
  Work work_;
};

double work_us(const Work& work, const Costs& costs) {
  return work.ops * costs.op_us + work.awaits * costs.await_us + work.messages * costs.message_us +
         work.line_ns / 1000;
}

Work work_of(const Algorithm& algorithm, const PlanRequest& request, int rank, std::size_t chunks, double block_bytes) {
  const Program program = write_program(algorithm, request.problem(), rank);
  Counter counter(request, program, block_bytes);
  counter.add(program.prologue, 1);
  counter.add(program.body, static_cast<double>(chunks));
  counter.add(program.epilogue, 1);
  Work work = counter.work();
  work.acknowledged = program.epilogue.count > 0;
  return work;
}

std::size_t chunks_of(const PlanRequest& request, const Shape& shape) {
  const bool divides = kCacheLineBytes % request.element_bytes == 0;
  const std::size_t granule = divides ? kCacheLineBytes / request.element_bytes : 1;
  const std::size_t widest = std::max(request.element_bytes, shape.scratch_units > 0 ? request.partial_bytes : 0);
  const std::size_t unit = std::max(unit_bytes(shape, request.room) / widest / granule * granule, granule);
  return Partition(request.problem(), shape, request.bytes / request.element_bytes, unit, granule).chunks();
}

}  // namespace

std::string refusal(const Algorithm& algorithm, const PlanRequest& request) {
  if (!algorithm.supports(request.problem())) return "not for so many ranks";
  const Shape shape = algorithm.shape(request.problem());
  if (shape.slot_units == 0) return {};
  if (!request.room.has_window) return "needs a window that all ranks share, and there is none";
  if (unit_bytes(shape, request.room) == 0) {
    return "needs slots of at least " + std::to_string(shape.slot_units * kCacheLineBytes) + " bytes, and they have " +
           std::to_string(request.room.slot_bytes);
  }
  return {};
}

Candidate predict(const Algorithm& algorithm, const PlanRequest& request) {
  const Shape shape = algorithm.shape(request.problem());
  Candidate candidate{.algorithm = &algorithm, .chunks = chunks_of(request, shape)};
  if (candidate.chunks == 0) return candidate;

  const Costs& costs = request.costs;
  const auto blocks = static_cast<double>(is_strided(request.collective) ? 1 : shape.blocks);
  const double block_bytes = static_cast<double>(request.bytes) / blocks;
  const auto chunks = static_cast<double>(candidate.chunks);
  const int cores = std::max(request.cores, 1);
  const double share = std::max(1.0, static_cast<double>(request.ranks) / cores);
  const double round_us = request.ranks <= cores ? costs.round_us : costs.switch_us * share;

  // The ranks are alike but for the root and the nodes of a tree; the one beside the root is the first of those that only listen.
  Work busiest = work_of(algorithm, request, request.root, candidate.chunks, block_bytes);
  for (const int distance : {1, 2, 3}) {
    if (has_root(request.collective) || distance >= request.ranks) break;
    const Work other = work_of(algorithm, request, distance, candidate.chunks, block_bytes);
    if (work_us(other, costs) > work_us(busiest, costs)) busiest = other;
  }
  const double rounds_per_chunk = algorithm.rounds(request.problem()) - (busiest.acknowledged ? 1 : 0);
  double rounds = rounds_per_chunk * chunks + (busiest.acknowledged ? 1 : 0);
  double way_us = 0;
  if (has_root(request.collective) && request.ranks > 1) {
    const Work listener =
        work_of(algorithm, request, (request.root + 1) % request.ranks, candidate.chunks, block_bytes);
    if (listener.receives > 0) {  // a pipeline
      const double late = algorithm.rounds(request.problem()) - 1;
      rounds = late + listener.receives;
      way_us = late * work_us(listener, costs) / listener.receives;
    }
    if (work_us(listener, costs) > work_us(busiest, costs)) busiest = listener;
  }
  candidate.ops = static_cast<std::size_t>(busiest.ops);
  candidate.moved_bytes = static_cast<std::size_t>(busiest.bytes);
  candidate.rounds = static_cast<int>(std::min(rounds, 1e9));
  const double idle_share = algorithm.idle_share == nullptr ? 0 : algorithm.idle_share(request.problem());
  candidate.predicted_us = work_us(busiest, costs) * (share + idle_share) + way_us + rounds * round_us;
  return candidate;
}

}  // namespace hcomm
