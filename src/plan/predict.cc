// The time of a call is the work of its busiest rank, times the ranks that share a core, or what a host's network needs for the
// bytes of its ranks, whichever is more; plus the waiting:
//
//   work     operations, flags, messages, and the lines each slice loads or stores, by where they lie and which link they take
//   waiting  rounds times what it takes until a peer's news arrive: the way between two cores or two hosts, or, if ranks share
//            cores, a hand-over to each of the ranks on this core
//
// To and from a root chunks follow each other along the ranks, so the length of the way is paid once, not per chunk.
#include "plan/predict.h"

#include <algorithm>

#include "schedule/binding.h"

namespace hcomm {
namespace {

constexpr int kMostRanksOfHost = 16;  // that are looked at for what a host sends

struct Traffic {
  double sends = 0;
  double receives = 0;
  double sent = 0;  // bytes
  double received = 0;

  double rounds() const { return std::max(sends, receives); }
  double busier() const { return std::max(sent, received); }
};

// What one rank does in the whole call.
struct Work {
  double ops = 0;
  double awaits = 0;
  double bytes = 0;           // loaded and stored
  double line_ns = 0;         // what that costs
  double window_bytes = 0;    // loaded from peers
  Traffic shm;
  Traffic tcp;
  bool acknowledged = false;  // the last round is in the epilogue: once per call

  double receives() const { return shm.receives + tcp.receives; }
};

// Counts what a program does with blocks of `block_bytes`: the sum of a block's bytes over all chunks.
class Counter {
 public:
  Counter(const PlanRequest& request, const Program& program, double block_bytes)
      : request_(request), program_(program), block_bytes_(block_bytes) {}

  void add(const Section& section, double times) {
    const Costs& costs = request_.costs;
    for (const Op& op : program_.section(section)) {
      work_.ops += times;
      switch (op.kind) {
        case OpKind::await:
          work_.awaits += times;
          break;
        case OpKind::send:
        case OpKind::recv:
          move(op, times);
          break;
        case OpKind::combine:
          for (const Slice& source : program_.sources(op)) {
            touch(source, load_ns(source) * share_of(op));
            if (source.owner != program_.rank) work_.window_bytes += bytes_of(source);
          }
          for (const Slice& target : program_.targets(op)) {
            touch(target, (has_owner(target.buffer) ? costs.show_ns : costs.store_ns) * share_of(op));
          }
          break;
        case OpKind::signal:
          break;
      }
    }
  }

  const Work& work() const { return work_; }

 private:
  void move(const Op& op, double times) {
    const Costs& costs = request_.costs;
    const bool is_send = op.kind == OpKind::send;
    const bool is_remote = request_.layout.channel(program_.rank, op.peer) == LinkKind::tcp;
    const Slice& slice = is_send ? program_.sources(op).front() : program_.targets(op).front();
    Traffic& traffic = is_remote ? work_.tcp : work_.shm;
    (is_send ? traffic.sends : traffic.receives) += times;
    (is_send ? traffic.sent : traffic.received) += bytes_of(slice);
    if (is_remote) {
      touch(slice, costs.tcp_line_ns);
      touch(slice, 0);  // the kernel's side of the copy
    } else {
      touch(slice, is_send ? costs.load_ns : costs.peer_load_ns);
      touch(slice, is_send ? costs.show_ns : costs.store_ns);
    }
  }
  double share_of(const Op& op) const {
    return program_.targets(op).front().buffer == Buffer::exposed ? request_.costs.staged_share : 1;
  }
  double load_ns(const Slice& slice) const {
    return slice.owner == program_.rank ? request_.costs.load_ns : request_.costs.peer_load_ns;
  }
  double bytes_of(const Slice& slice) const {
    const double bytes = slice.count * block_bytes_;
    if (slice.format == Format::element) return bytes;
    const std::size_t wide = slice.format == Format::sum ? request_.sum_bytes : request_.partial_bytes;
    return bytes * static_cast<double>(wide) / static_cast<double>(request_.element_bytes);
  }
  void touch(const Slice& slice, double ns_per_line) {
    work_.bytes += bytes_of(slice);
    work_.line_ns += bytes_of(slice) / static_cast<double>(kCacheLineBytes) * ns_per_line;
  }

  const PlanRequest& request_;
  const Program& program_;
  const double block_bytes_;
  Work work_;
};

double work_us(const Work& work, const Costs& costs) {
  return work.ops * costs.op_us + work.awaits * costs.await_us + work.line_ns / 1000 +
         (work.shm.sends + work.shm.receives) * costs.message_us +
         (work.tcp.sends + work.tcp.receives) * costs.tcp_message_us;
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

// How long it takes until a peer's news arrive on a host.
struct Waiting {
  explicit Waiting(const PlanRequest& request) {
    const int cores = std::max(request.cores, 1);
    share = std::max(1.0, static_cast<double>(request.ranks) / cores);
    round_us = request.ranks <= cores ? request.costs.round_us : request.costs.switch_us * share;
  }
  double share = 1;  // ranks to a core
  double round_us = 0;
};

// What the ranks of the root's host do together, where there are other hosts.
struct Host {
  Work busiest;
  double rounds = 0;     // over tcp, of the rank that has the most
  double shm_bytes = 0;  // of the rank that has the most
  double tcp_bytes = 0;
  double bytes = 0;      // over tcp, of all of them
};

template <class LookAt>  // LookAt: (rank) -> Work
Host look_at_host(const PlanRequest& request, LookAt&& look_at) {
  std::vector<int> ranks;
  for (int rank = 0; rank < request.ranks; ++rank) {
    if (request.layout.host(rank) == request.layout.host(request.root)) ranks.push_back(rank);
  }
  const int count = static_cast<int>(ranks.size());
  const int looked_at = std::min(count, kMostRanksOfHost);
  Host host;
  Traffic together;
  for (int i = 0; i < looked_at; ++i) {  // the first, the last, and evenly between
    const int place = looked_at == 1 ? 0 : i * (count - 1) / (looked_at - 1);
    const Work work = look_at(ranks[static_cast<std::size_t>(place)]);
    if (i == 0 || work_us(work, request.costs) > work_us(host.busiest, request.costs)) host.busiest = work;
    host.rounds = std::max(host.rounds, work.tcp.rounds());
    host.shm_bytes = std::max(host.shm_bytes, work.shm.busier());
    host.tcp_bytes = std::max(host.tcp_bytes, work.tcp.busier());
    together.sent += work.tcp.sent;
    together.received += work.tcp.received;
  }
  host.bytes = together.busier() * count / looked_at;
  return host;
}

}  // namespace

std::string refusal(const Algorithm& algorithm, const PlanRequest& request) {
  if (!algorithm.supports(request.problem())) return "not for so many ranks";
  if (request.private_lengths && !algorithm.only_between_owners) return "needs to know how long the blocks of others are";
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
  const auto look_at = [&](int rank) { return work_of(algorithm, request, rank, candidate.chunks, block_bytes); };
  const auto is_busier = [&](const Work& one, const Work& other) { return work_us(one, costs) > work_us(other, costs); };

  // The ranks are alike but for the root, the nodes of a tree and those at the edge of a host.
  const Work root = look_at(request.root);
  const Work beside = look_at((request.root + 1) % request.ranks);
  Work busiest = is_busier(beside, root) ? beside : root;
  Host host;
  if (request.layout.hosts() > 1) host = look_at_host(request, look_at);
  if (is_busier(host.busiest, busiest)) busiest = host.busiest;

  const double rounds_per_chunk = algorithm.rounds(request.problem()) - (root.acknowledged ? 1 : 0);
  double rounds = rounds_per_chunk * chunks + (root.acknowledged ? 1 : 0);
  double way_us = 0;
  const bool ends_at_root = !has_output(request.collective, false);
  const Work& listener = ends_at_root ? root : beside;
  if (has_root(request.collective) && request.ranks > 1 && listener.receives() > 0) {  // a pipeline
    const double late = algorithm.rounds(request.problem()) - 1;
    rounds = late + listener.receives();
    way_us = late * work_us(listener, costs) / listener.receives();
  }
  const Waiting waiting(request);
  const double remote_rounds = std::min(rounds, std::max({root.tcp.rounds(), beside.tcp.rounds(), host.rounds}));
  const double idle_share = algorithm.idle_share == nullptr ? 0 : algorithm.idle_share(request.problem());
  const double busy_us = std::max(work_us(busiest, costs) * (waiting.share + idle_share), host.bytes / costs.tcp_bytes_per_us);

  const auto most = [&](double one, double other) { return static_cast<std::size_t>(std::max(one, other)); };
  candidate.ops = static_cast<std::size_t>(busiest.ops);
  candidate.moved_bytes = static_cast<std::size_t>(busiest.bytes);
  candidate.link_bytes = {.window = most(root.window_bytes, beside.window_bytes),
                          .shm = most(std::max(root.shm.busier(), beside.shm.busier()), host.shm_bytes),
                          .tcp = most(std::max(root.tcp.busier(), beside.tcp.busier()), host.tcp_bytes)};
  candidate.rounds = static_cast<int>(std::min(rounds, 1e9));
  candidate.predicted_us = busy_us + way_us + (rounds - remote_rounds) * waiting.round_us + remote_rounds * costs.tcp_round_us;
  return candidate;
}

}  // namespace hcomm
