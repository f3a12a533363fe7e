// Eight ranks on two cores. Each rank must run at least once in an operation, so each core switches four times between
// processes. The yardstick: two processes on one core that do nothing but yield to each other.

#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ranks.h"
#include "sections.h"
#include "timing.h"

namespace hcomm::bench {
namespace {

constexpr int kRanks = 8;
constexpr int kRepetitions = 9;
constexpr int kTurns = 2'000;

double process_switch() {
  auto& result = shared<std::atomic<double>>();
  auto& ready = shared<std::atomic<int>>();
  run_processes(2, [&](int rank) {
    pin_to_core(0);
    ++ready;
    while (ready < 2) sched_yield();
    const double turn = time_turns(kTurns * 4, [] { sched_yield(); });
    if (rank == 0) result = turn / 2;  // there and back
  });
  return result;
}

}  // namespace

void more_ranks_than_cores() {
  const int switches = (kRanks + cores() - 1) / cores();
  std::vector<double> ours, bare, ratio;
  auto& result = shared<std::atomic<double>>();
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    bare.push_back(process_switch());
    run_ranks(kRanks, [&](Communicator& rank) {
      double send = 1, recv = 0;
      const CollectiveCall call{
          .collective = Collective::allreduce, .send = &send, .recv = &recv, .count = 1, .dtype = hcommFloat64};
      const double turn = time_turns(kTurns, [&] {
        if (!rank.run(call).ok() || recv != kRanks) std::abort();
      });
      if (rank.rank() == 0) result = turn;
    });
    ours.push_back(result);
    ratio.push_back(ours.back() / (switches * bare.back()));
  }
  std::printf("a switch between two processes                %8.1f ns\n", median(bare));
  std::printf("8-byte allreduce at %d ranks on %d cores        %8.1f ns   %.2f times %d switches (median of %d; goal: 1.5)\n",
              kRanks, cores(), median(ours), median(ratio), switches, kRepetitions);
}

}  // namespace hcomm::bench
