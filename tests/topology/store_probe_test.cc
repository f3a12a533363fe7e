// The probe answers within its budget, and leaves no trace in the thread that asks.
#include "topology/store_probe.h"

#include <sched.h>
#include <signal.h>

#include <array>
#include <cstring>
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/bytes.h"
#include "topology/cores.h"
#include "topology/store_kinds.h"

namespace hcomm {
namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("with one core there is nothing to measure") {
  const StoreProbe probe = probe_stores(1);
  CHECK_FALSE(probe.measured);
  CHECK(probe.costs.regular_ns == 0);
}

TEST_CASE("without time there is no measurement, and no wait") { CHECK_FALSE(probe_stores(2, 0).measured); }

TEST_CASE("a measurement has three costs that can be") {
  const StoreProbe probe = probe_stores(usable_cores(), kSecond / 10);
  if (!probe.measured) {
    CHECK(probe.costs.regular_ns == 0);
    CHECK(probe.costs.non_temporal_ns == 0);
    CHECK(probe.costs.rep_movsb_ns == 0);
    return;
  }
  for (const double ns : {probe.costs.regular_ns, probe.costs.non_temporal_ns, probe.costs.rep_movsb_ns}) {
    CHECK(ns > 0.01);
    CHECK(ns < 1e6);
  }
  CAPTURE(probe.costs.regular_ns, probe.costs.non_temporal_ns, probe.costs.rep_movsb_ns);
  SUCCEED();
}

TEST_CASE("the caller keeps its affinity and its signal mask, and the probe's threads are gone") {
  cpu_set_t cpus_before;
  sigset_t signals_before;
  REQUIRE(sched_getaffinity(0, sizeof cpus_before, &cpus_before) == 0);
  REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &signals_before) == 0);
  const std::ptrdiff_t threads_before = threads_of_this_process();
  static_cast<void>(probe_stores(2));
  cpu_set_t cpus_after;
  sigset_t signals_after;
  REQUIRE(sched_getaffinity(0, sizeof cpus_after, &cpus_after) == 0);
  REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &signals_after) == 0);
  CHECK(CPU_EQUAL(&cpus_before, &cpus_after));
  for (int signal = 1; signal < 32; ++signal) CHECK(sigismember(&signals_before, signal) == sigismember(&signals_after, signal));
  CHECK(threads_of_this_process() == threads_before);
}

TEST_CASE("all kinds of store copy") {
  for (const auto store : {store_regular, store_non_temporal, store_rep_movsb}) {
    alignas(kCacheLineBytes) std::array<unsigned char, 3 * kCacheLineBytes> source;
    alignas(kCacheLineBytes) std::array<unsigned char, 3 * kCacheLineBytes> target{};
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 7 + 1);
    store(target.data(), source.data(), source.size());
    CHECK(std::memcmp(target.data(), source.data(), source.size()) == 0);
  }
}

}  // namespace hcomm
