#include "comm/hubs.h"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "bootstrap/facts.h"
#include "comm/meet.h"
#include "net/kernel_network.h"
#include "net/mac.h"
#include "transport/bell_socket.h"

namespace hcomm {
namespace {

using Key = std::pair<std::array<std::byte, 16>, int>;  // the job's name, the rank

struct Known {
  std::weak_ptr<Hub> hub;
  std::vector<Address> addresses;
};

struct Hubs {
  std::mutex mutex;
  std::map<Key, Known> known;  // guarded by mutex
};

// Never destroyed: communicators may outlive static objects.
Hubs& hubs() {
  static Hubs* const all = new Hubs;
  return *all;
}

void before_fork() { hubs().mutex.lock(); }
void after_fork() { hubs().mutex.unlock(); }
// A child that held the sockets would hide its parent's end.
void in_child() {
  for (auto& [key, known] : hubs().known) {
    if (const SharedHub hub = known.hub.lock()) hub->abandon_in_child();
  }
  hubs().known.clear();
  hubs().mutex.unlock();
}

}  // namespace

Result<OpenHub> open_hub(const JobId& job, int rank, int ranks, const Settings& settings) {
  [[maybe_unused]] static const int registered = pthread_atfork(before_fork, after_fork, in_child);
  Hubs& all = hubs();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.known, [](const auto& each) { return each.second.hub.expired(); });
  Known& known = all.known[{job.name, rank}];
  if (SharedHub hub = known.hub.lock()) return OpenHub{std::move(hub), known.addresses};

  Result<std::unique_ptr<KernelNetwork>> network = KernelNetwork::open();
  if (!network.ok()) return std::move(network).status();
  Result<std::unique_ptr<BellSocket>> bell = BellSocket::open(*network.value());
  if (!bell.ok()) return std::move(bell).status();
  KernelNetwork& kernel = *network.value();
  auto hub = std::make_shared<Hub>(HubOptions{.job = job.name,
                                              .secret = derive(job.secret, "links"),
                                              .rank = rank,
                                              .ranks = ranks,
                                              .network = std::move(network).value(),
                                              .bell = std::move(bell).value(),
                                              .in_child = [&kernel] { kernel.close_all_in_child(); },
                                              .unreachable_after = settings.connect_timeout_ns});
  Result<std::vector<Address>> places = places_to_listen(settings, kMaxMemberAddresses);
  if (!places.ok()) return std::move(places).status();
  for (const Address& place : places.value()) {
    Result<Address> at = hub->listen(place, settings.port_range);
    if (!at.ok()) return std::move(at).status();
    known.addresses.push_back(at.value());
  }
  known.hub = hub;
  return OpenHub{std::move(hub), known.addresses};
}

}  // namespace hcomm
