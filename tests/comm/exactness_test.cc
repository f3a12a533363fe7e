// Goal: every (collective, algorithm, ranks, transport, count, placement, root, type, op) gives exactly the right bytes,
//       writes nothing else, and leaves the input alone.
// Method: exhaustive over the lists below, ranks as threads, against a serial oracle.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "algos/algorithm.h"
#include "arena.h"
#include "kernels/combine.h"
#include "oracle.h"
#include "transport/local_memory.h"
#include "world.h"

namespace hcomm::testing {
namespace {

// The thread sanitizer looks at every access: many chunks are shown to it by a count that is smaller.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kLargestCount = 5003;
#else
constexpr std::size_t kLargestCount = 100003;
#endif

std::string describe(const CollectiveCall& call, Placement placement, const Communicator& rank) {
  return std::string(name(call.collective)) + " count " + std::to_string(call.count) + " " +
         std::string(hcomm::name(call.dtype)) + " " + std::string(hcomm::name(call.op)) + " root " +
         std::to_string(call.root) + ", " + name(placement) + ", rank " +
         std::to_string(rank.rank()) + " of " + std::to_string(rank.ranks()) + ", " + std::string(rank.last_call().algorithm);
}

// So many calls, one after the other, have different numbers; of them, at most two are under way at once.
constexpr std::uint64_t kSalts = 3;

struct Buffers {
  Arena private_send{false}, private_recv{false}, window_send{true}, window_recv{true};
};

// Also of nothing, where pointers may be null.
bool same_bytes(const void* memory, const std::vector<std::byte>& expected) {
  return std::equal(expected.begin(), expected.end(), static_cast<const std::byte*>(memory));
}

void one_call(Communicator& rank, CollectiveCall call, Placement placement, Buffers& buffers) {
  thread_local std::uint64_t calls = 0;  // every rank has a thread of its own, and all make the same calls
  set_salt(++calls % kSalts);
  const std::vector<std::byte> input = make_input(call, rank.rank(), rank.ranks());
  std::vector<std::byte> expected = expected_output(call, rank.rank(), rank.ranks());
  if (!has_output(call.collective, rank.rank() == call.root) && is_in_place(placement)) expected = input;  // it is left alone
  const bool window = placement == Placement::window || placement == Placement::window_in_place;
  Arena& send_arena = window ? buffers.window_send : buffers.private_send;
  Arena& recv_arena = window ? buffers.window_recv : buffers.private_recv;
  const std::size_t skew = call.count % 3 * element_bytes(call.dtype);

  std::span<std::byte> recv;
  if (is_in_place(placement)) {
    recv = recv_arena.take(std::max(input.size(), expected.size()), skew);
    std::fill(recv.begin(), recv.end(), std::byte{0x5a});
    const std::size_t part = call.count * element_bytes(call.dtype);
    call.send = recv.data() + part * part_in_place(call, Side::input, rank.rank());
    call.recv = recv.data() + part * part_in_place(call, Side::output, rank.rank());
    std::copy(input.begin(), input.end(), static_cast<std::byte*>(const_cast<void*>(call.send)));
  } else {
    const std::span<std::byte> send = send_arena.take(input.size(), skew);
    std::copy(input.begin(), input.end(), send.begin());
    send_arena.forbid_writes();
    recv = recv_arena.take(expected.size(), skew);
    std::fill(recv.begin(), recv.end(), std::byte{0x5a});
    call.send = send.data();
    call.recv = recv.data();
  }
  require(rank.run(call));
  const bool right = same_bytes(call.recv, expected);
  const bool kept = is_in_place(placement) || same_bytes(call.send, input);
  if (!right || !kept || !recv_arena.canaries_live() || (!is_in_place(placement) && !send_arena.canaries_live())) {
    const std::string what = right ? "memory around" : "result of";
    throw std::runtime_error("wrong " + what + " " + describe(call, placement, rank));
  }
}

std::vector<int> roots(Collective collective, int ranks) {
  std::set<int> some{0};
  if (has_root(collective)) some.insert({std::min(1, ranks - 1), ranks - 1});
  return {some.begin(), some.end()};
}

// All sizes, placements, roots for one collective; the second type alternates between cases.
void all_cases(Communicator& rank, Collective collective, std::span<const Placement> placements, Buffers& buffers) {
  const auto n = static_cast<std::size_t>(rank.ranks());
  const std::size_t largest = n <= 5 ? kLargestCount : kLargestCount / 2;  // the larger ones are many
  int turn = 0;
  for (const std::size_t count : std::set<std::size_t>{0, 1, n - 1, n + 1, 1000, largest}) {
    for (const int root : roots(collective, rank.ranks())) {
      for (const Placement placement : placements) {
        const hcommDataType_t second = ++turn % 2 == 0 ? hcommFloat32 : hcommBfloat16;
        for (const hcommDataType_t dtype : {hcommInt32, second}) {
          const CollectiveCall call{.collective = collective, .count = count, .dtype = dtype, .op = hcommSum, .root = root};
          one_call(rank, call, placement, buffers);
        }
      }
    }
  }
}

Settings settings_for(std::string_view algorithm, std::string_view transport) {
  Settings settings;
  settings.algo = algorithm;
  settings.transport = transport;
  settings.timeout_ns = 60 * kSecond;
  return settings;
}

std::set<std::string_view> algorithm_names() {
  std::set<std::string_view> names;
  for (const Algorithm* const each : algorithms()) names.insert(each->name);
  return names;
}

bool needs_window(std::string_view name, int ranks) {
  return std::ranges::any_of(algorithms(), [&](const Algorithm* each) {
    const Problem problem{.collective = each->collective, .ranks = ranks};
    return each->name == name && each->supports(problem) && uses_window(each->shape(problem));
  });
}

void matrix(int ranks, std::string_view transport) {
  // Without a window, memory that could be shown in one is memory like any other.
  const auto placements = std::span(kPlacements).first(has_window(transport) ? std::size(kPlacements) : 2);
  for (const std::string_view algorithm : algorithm_names()) {
    if (!has_window(transport) && needs_window(algorithm, ranks)) continue;
    INFO(algorithm << " on " << transport << ", " << ranks << " ranks");
    REQUIRE_NOTHROW(run_world(ranks, settings_for(algorithm, transport), [&](Communicator& rank) {
      Buffers buffers;
      for (const Collective collective : kCollectives) {
        if (find_algorithm(algorithm, collective) == nullptr) continue;  // another name's turn
        if (collective == Collective::barrier) {
          require(rank.run({.collective = collective}));
        } else {
          all_cases(rank, collective, placements, buffers);
        }
      }
    }));
  }
}

// What one algorithm makes of numbers whose sum depends on the order of the additions: of all ranks, one after the other.
std::vector<float> sums_of(const Algorithm& algorithm, int ranks, int root) {
  constexpr std::size_t kCount = 3001;
  const bool scatters = algorithm.collective == Collective::reduce_scatter;
  std::vector<std::vector<float>> results(static_cast<std::size_t>(ranks));
  run_world(ranks, settings_for(algorithm.name, "shm"), [&](Communicator& rank) {
    std::vector<float> send(scatters ? kCount * static_cast<std::size_t>(ranks) : kCount);
    for (std::size_t i = 0; i < send.size(); ++i) {
      send[i] = 1.0f / static_cast<float>((i * 7919 + static_cast<std::size_t>(rank.rank()) * 104'729) % 10'007 + 1);
    }
    std::vector<float> recv(kCount);
    require(rank.run({.collective = algorithm.collective, .send = send.data(), .recv = recv.data(), .count = kCount,
                      .dtype = hcommFloat32, .root = root}));
    const bool has_result = has_output(algorithm.collective, rank.rank() == root);
    const bool is_copy = algorithm.collective == Collective::allreduce && rank.rank() > 0;
    if (has_result && !is_copy) results[static_cast<std::size_t>(rank.rank())] = recv;
  });
  std::vector<float> all;
  for (const auto& each : results) all.insert(all.end(), each.begin(), each.end());
  return all;
}

void all_types_and_ops(Communicator& rank) {
  Buffers buffers;
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter, Collective::reduce}) {
    for (const hcommDataType_t dtype : combine_types()) {
      for (const hcommRedOp_t op : combine_ops(dtype)) {
        CollectiveCall call{.collective = collective, .count = 1, .dtype = dtype, .op = op};
        one_call(rank, call, Placement::apart, buffers);
        call.count = 77;
        one_call(rank, call, Placement::window_in_place, buffers);
        if (op == hcommSum || op == hcommAvg) call.count = 5003;
        one_call(rank, call, Placement::apart, buffers);
      }
    }
  }
  for (const Collective collective : kCollectives) {
    if (reduces(collective) || collective == Collective::barrier) continue;
    for (const hcommDataType_t dtype : combine_types()) {
      one_call(rank, {.collective = collective, .count = 77, .dtype = dtype}, Placement::apart, buffers);
    }
  }
}

}  // namespace

TEST_CASE("the class of an algorithm's results decides their bits: not the root, nor whether all ranks or one have them") {
  for (const int ranks : {3, 5, 6, 7}) {
    std::map<std::pair<std::string_view, bool>, std::vector<float>> of_class;
    for (const Algorithm* const each : algorithms()) {
      if (!reduces(each->collective)) continue;
      for (const int root : roots(each->collective, ranks)) {
        INFO(each->name << " " << name(each->collective) << ", " << ranks << " ranks, root " << root);
        const std::vector<float> sums = sums_of(*each, ranks, root);
        const auto known = of_class.try_emplace({each->expression, each->collective == Collective::reduce_scatter}, sums);
        CHECK(known.first->second == sums);
      }
    }
    std::set<std::vector<float>> different;
    for (const auto& [key, sums] : of_class) different.insert(sums);
    if (ranks == 5 || ranks == 6) CHECK(different.size() == of_class.size());  // 3, 7: halves are the rank tree
  }
}

// Peers keep mappings, and ranks keep plans: neither may outlive the memory it was made for.
TEST_CASE("memory that is freed and allocated anew at the same address is never read stale") {
  run_world(3, settings_for("direct", "shm"), [](Communicator& rank) {
    std::map<void*, int> seen;
    int again = 0;
    for (int round = 0; round < 60; ++round) {
      const std::size_t count = round % 3 == 0 ? 3000 : 100;  // the same plan, in windows of two sizes
      Result<void*> made = allocate_window(count * sizeof(int));
      require(made.status());
      again += seen[made.value()]++ > 0 ? 1 : 0;
      const std::span<int> send(static_cast<int*>(made.value()), count);
      std::ranges::fill(send, 1000 * round + rank.rank());
      std::vector<int> recv(count);
      require(rank.run({.collective = Collective::allreduce, .send = send.data(), .recv = recv.data(), .count = count,
                        .dtype = hcommInt32}));
      if (std::ranges::count(recv, 3000 * round + 3) != std::ssize(recv)) throw std::runtime_error("a stale sum");
      require(free_window(made.value()));
    }
    if (again == 0) throw std::runtime_error("no address came back");
  });
}

TEST_CASE("exactness matrix, up to five ranks") {
  for (const int ranks : {1, 2, 3, 4, 5}) {
    for (const std::string_view transport : kAllTransports) matrix(ranks, transport);
  }
}

TEST_CASE("exactness matrix, seven to thirteen ranks", "[large]") {
  for (const int ranks : {7, 8, 13}) {
    for (const std::string_view transport : kAllTransports) matrix(ranks, transport);
  }
}

namespace {

// With every algorithm, over one transport after the other in turn, or over all of them.
void types_ops_and_algorithms(bool every_transport) {
  std::size_t turn = 0;
  for (const int ranks : {3, 4}) {
    for (const std::string_view algorithm : algorithm_names()) {
      ++turn;
      for (std::size_t place = 0; place < kAllTransports.size(); ++place) {
        const std::string_view transport = kAllTransports[place];
        if (!has_window(transport) && needs_window(algorithm, ranks)) continue;
        const std::size_t legal = algorithm == "ring" ? kAllTransports.size() : 2;  // TCP is slow on few cores
        if (!every_transport && place != turn % legal) continue;
        INFO(algorithm << ", " << ranks << " ranks, " << transport);
        REQUIRE_NOTHROW(run_world(ranks, settings_for(algorithm, transport), all_types_and_ops));
      }
    }
  }
}

}  // namespace

TEST_CASE("every type and op with every algorithm, each over one of the transports") { types_ops_and_algorithms(false); }

// Takes minutes.
TEST_CASE("every type and op with every algorithm over every transport", "[.][hundred]") { types_ops_and_algorithms(true); }

TEST_CASE("every type and op of a rank alone") {
  REQUIRE_NOTHROW(run_world(1, settings_for("adaptive", "loopback"), all_types_and_ops));
}

}  // namespace hcomm::testing
