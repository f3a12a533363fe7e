// Goal: there is one way from the API to moved bytes, and it is proved: whatever ran has the hash of a proved schedule.
// Method: a tracer collects what each call ran, over all collectives and sizes from nothing to many chunks, with the
//         planner's own choices and each algorithm forced; the judge then proves each of those schedules.
#include <catch2/catch.hpp>

#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "algos/algorithm.h"
#include "base/tracer.h"
#include "kernels/combine.h"
#include "oracle.h"
#include "schedule/schedule.h"
#include "verify/verify.h"
#include "world.h"

namespace hcomm {
namespace {

struct Ran {
  std::string algorithm;
  std::uint64_t hash;
};

class Collector final : public Tracer {
 public:
  void call_ended(const CallTrace& trace) override {
    const std::lock_guard lock(mutex_);
    ran_.push_back({std::string(trace.algorithm), trace.schedule_hash});
  }
  std::vector<Ran> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ran_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Ran> ran_;
};

// Hashes of all ranks' programs, if the judge accepts the schedule.
std::set<std::uint64_t> proved_hashes(const Algorithm& algorithm, const Problem& problem) {
  const Schedule schedule = write_schedule(algorithm, problem);
  const Judgement judgement = verify(schedule);
  INFO(judgement.story);
  REQUIRE(judgement.proved());
  std::set<std::uint64_t> hashes;
  for (const Program& program : schedule.programs) hashes.insert(hash(problem, schedule.shape, program));
  return hashes;
}

constexpr std::size_t kCounts[] = {1, 2, 6, 7, 100, 1024, 8191, 65536, 1'000'003};

void check_collective(Collective collective, int ranks, std::string_view algo, std::map<std::string, int>& counted) {
  Settings settings;
  settings.algo = algo;
  settings.transport = "loopback";
  const auto world = testing::make_world(ranks, settings);
  Collector collector;
  for (const auto& each : world) each->set_tracer(&collector);
  for (const std::size_t count : kCounts) {
    testing::run_ranks(world, [&](Communicator& rank) {
      CollectiveCall call{.collective = collective, .count = count, .dtype = hcommInt32};
      if (collective == Collective::barrier) call.count = 0;
      std::vector<std::byte> send(testing::send_elements(call, ranks) * 4 + 4), recv(testing::recv_elements(call, ranks) * 4 + 4);
      call.send = send.data();
      call.recv = recv.data();
      testing::require(rank.run(call));
    });
    for (const Ran& ran : collector.take()) {
      const Algorithm* const algorithm = find_algorithm(ran.algorithm, collective);
      REQUIRE(algorithm != nullptr);
      const int slots = testing::with_environment_slots(settings).slots;
      const Problem problem{.collective = collective, .ranks = ranks, .slots = slots == 0 ? 2 : slots};
      static std::map<std::tuple<const Algorithm*, int>, std::set<std::uint64_t>> proved;
      auto& hashes = proved[{algorithm, ranks}];
      if (hashes.empty()) hashes = proved_hashes(*algorithm, problem);
      INFO(name(collective) << " count " << count << " ran " << ran.algorithm);
      REQUIRE(hashes.contains(ran.hash));
      ++counted[std::string(name(collective)) + " " + std::to_string(count * 4) + " B"];
    }
  }
}

}  // namespace

TEST_CASE("every call runs a proved schedule, the smallest too") {
  std::map<std::string, int> counted;
  for (const Collective collective : kCollectives) {
    for (const char* const algo : {"adaptive", "flat", "direct", "ring", "recursive_doubling", "halving_doubling", "tree"}) {
      for (const int ranks : {2, 3}) check_collective(collective, ranks, algo, counted);
    }
  }
  for (const auto& [what, times] : counted) UNSCOPED_INFO(what << ": " << times << " programs ran, all proved");
  CHECK(counted.size() == std::size(kCollectives) * std::size(kCounts));
  for (const auto& [what, times] : counted) CHECK(times == 7 * (2 + 3));
}

}  // namespace hcomm
