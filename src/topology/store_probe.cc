// Two threads take turns. In its turn the reader loads every line of a buffer, and then the writer stores every line
// and takes the time. The fastest of several rounds counts: what slows a round down is not the store.
#include "topology/store_probe.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "topology/store_kinds.h"

namespace hcomm {
namespace {

constexpr std::size_t kLines = 2048;
constexpr int kRounds = 6;
constexpr std::array kKinds = {store_regular, store_non_temporal, store_rep_movsb};

struct alignas(kCacheLineBytes) Line {
  std::array<std::byte, kCacheLineBytes> bytes{};
};

// What the two threads share. Turns count up: even ones are the reader's, odd ones the writer's.
struct Bench {
  std::vector<Line> shared = std::vector<Line>(kLines);
  std::vector<Line> source = std::vector<Line>(kLines);  // the writer's
  TimeNs deadline = 0;
  std::array<int, 2> processors{};  // reader, writer
  alignas(kCacheLineBytes) std::atomic<int> turn{0};
  alignas(kCacheLineBytes) std::atomic<unsigned> seen{0};  // so that the loads are not left out
  std::array<double, kKinds.size()> best_ns{1e9, 1e9, 1e9};  // per line; the writer's
  std::atomic<bool> complete{false};
};

constexpr int kTurns = 2 * kRounds * static_cast<int>(kKinds.size());

void stay_on(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(processor), &one);
  sched_setaffinity(0, sizeof one, &one);  // of this thread; refused is as good: then the rounds just differ more
}

// False when time is up.
bool await_turn(const Bench& bench, int turn) {
  const MonotonicClock clock;
  while (bench.turn.load(std::memory_order_acquire) != turn) {
    if (clock.now() > bench.deadline) return false;
  }
  return true;
}

void* read_lines(void* argument) {
  Bench& bench = *static_cast<Bench*>(argument);
  stay_on(bench.processors[0]);
  for (int turn = 0; turn < kTurns; turn += 2) {
    if (!await_turn(bench, turn)) return nullptr;
    unsigned sum = 0;
    for (const Line& line : bench.shared) sum += std::to_integer<unsigned>(line.bytes[0]);
    bench.seen.store(sum, std::memory_order_relaxed);
    bench.turn.store(turn + 1, std::memory_order_release);
  }
  return nullptr;
}

void* write_lines(void* argument) {
  Bench& bench = *static_cast<Bench*>(argument);
  const MonotonicClock clock;
  stay_on(bench.processors[1]);
  for (int turn = 1; turn < kTurns; turn += 2) {
    if (!await_turn(bench, turn)) return nullptr;
    const auto kind = static_cast<std::size_t>(turn / 2) % kKinds.size();
    const TimeNs begin = clock.now();
    kKinds[kind](bench.shared.data(), bench.source.data(), kLines * sizeof(Line));
    std::atomic_thread_fence(std::memory_order_seq_cst);  // until they are stored
    const double ns = static_cast<double>(clock.now() - begin) / static_cast<double>(kLines);
    bench.best_ns[kind] = std::min(bench.best_ns[kind], ns);
    bench.turn.store(turn + 1, std::memory_order_release);
  }
  bench.complete.store(true, std::memory_order_release);
  return nullptr;
}

// Two different processors that the caller may run on, the one that it runs on first.
std::optional<std::array<int, 2>> two_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  const int here = std::max(sched_getcpu(), 0);
  for (int distance = 1; distance < CPU_SETSIZE; ++distance) {
    const int other = (here + distance) % CPU_SETSIZE;
    if (CPU_ISSET(static_cast<std::size_t>(other), &allowed)) return std::array{other, here};
  }
  return {};
}

// A thread that no signal reaches.
bool start_thread(pthread_t& thread, void* (*body)(void*), Bench& bench) {
  sigset_t all;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const bool started = pthread_attr_setsigmask_np(&attributes, &all) == 0 &&
                       pthread_create(&thread, &attributes, body, &bench) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

StoreProbe probe_stores(int usable_cores, TimeNs budget) {
  const auto processors = two_processors();
  if (!kStoreKindsDiffer || usable_cores < 2 || !processors) return {};

  const auto bench = std::make_unique<Bench>();
  bench->processors = *processors;
  bench->deadline = add_saturated(MonotonicClock().now(), budget);
  pthread_t reader{};
  pthread_t writer{};
  const bool has_reader = start_thread(reader, read_lines, *bench);
  const bool has_writer = has_reader && start_thread(writer, write_lines, *bench);
  if (has_writer) pthread_join(writer, nullptr);
  if (has_reader) pthread_join(reader, nullptr);
  if (!bench->complete.load(std::memory_order_acquire)) return {};
  return {.measured = true,
          .costs = {.regular_ns = bench->best_ns[0],
                    .non_temporal_ns = bench->best_ns[1],
                    .rep_movsb_ns = bench->best_ns[2]}};
}

}  // namespace hcomm
