// Two processes on two cores. The yardstick: each writes a line of its own and spins until it has seen the other's, which is the
// least that two ranks can do to learn from each other.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/idle.h"
#include "ranks.h"
#include "sections.h"
#include "timing.h"

namespace hcomm::bench {
namespace {

constexpr int kRepetitions = 31;
constexpr int kTurns = 20'000;

struct Lines {
  struct alignas(128) Line {
    std::atomic<std::uint64_t> turn{0};
  };
  Line line[2];
};

double bare_exchange(Lines& lines, int self, std::uint64_t& turn) {
  return time_turns(kTurns, [&] {
    lines.line[self].turn.store(++turn, std::memory_order_release);
    while (lines.line[1 - self].turn.load(std::memory_order_acquire) < turn) spin_pause();
  });
}

double allreduce(Communicator& rank) {
  double send = 1, recv = 0;
  const CollectiveCall call{.collective = Collective::allreduce, .send = &send, .recv = &recv, .count = 1, .dtype = hcommFloat64};
  return time_turns(kTurns, [&] {
    if (!rank.run(call).ok() || recv != 2) std::abort();
  });
}

}  // namespace

void small_message() {
  if (cores() < 2) {
    std::printf("8-byte allreduce at 2 ranks                   skipped: one core\n");
    return;
  }
  Lines& lines = shared<Lines>();
  run_ranks(2, [&](Communicator& rank) {
    std::vector<double> bare, ours, ratio;
    std::uint64_t turn = 0;
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      bare.push_back(bare_exchange(lines, rank.rank(), turn));
      ours.push_back(allreduce(rank));
      ratio.push_back(ours.back() / bare.back());
    }
    if (rank.rank() != 0) return;
    std::printf("bare exchange of two cache lines              %8.1f ns\n", median(bare));
    std::printf("8-byte allreduce at 2 ranks                   %8.1f ns   %.2f times the bare exchange (median of %d pairs)\n",
                median(ours), median(ratio), kRepetitions);
  });
}

}  // namespace hcomm::bench
