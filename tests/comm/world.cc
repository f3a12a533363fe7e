#include "world.h"

#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "comm/init.h"

namespace hcomm::testing {

Settings with_environment_slots(Settings settings) {
  const auto knobs = read_knobs(process_sources());
  require(knobs.status());
  if (settings.slots == 0) settings.slots = knobs.value().settings.slots;
  return settings;
}

Settings settings_of_process(Settings settings, int rank, int ranks) {
  settings = with_environment_slots(std::move(settings));
  settings.socket_ifname = "=lo";
  if (settings.transport != kMixed) return settings;
  settings.transport = "";
  settings.host_id = 2 * rank < ranks ? "first" : "second";
  return settings;
}

std::vector<std::unique_ptr<Communicator>> make_world(int ranks, const Settings& settings) {
  Settings known = with_environment_slots(settings);
  std::vector<int> hosts;
  if (settings.transport == kMixed) {
    known.transport = "";
    for (int rank = 0; rank < ranks; ++rank) hosts.push_back(2 * rank < ranks ? 0 : 1);
  }
  auto made = init_all(ranks, known, std::move(hosts));
  require(made.status());
  return std::move(made).value();
}

void run_ranks(const std::vector<std::unique_ptr<Communicator>>& world, const std::function<void(Communicator&)>& body) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::exception_ptr first;
  for (const auto& communicator : world) {
    threads.emplace_back([&, rank = communicator.get()] {
      try {
        body(*rank);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        rank->abort();  // so that the others end, too
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

void run_world(int ranks, const Settings& settings, const std::function<void(Communicator&)>& body) {
  const auto world = make_world(ranks, settings);
  run_ranks(world, body);
}

void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.trail()));
}

}  // namespace hcomm::testing
