#include "net/kernel_network.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/kernel_stream.h"
#include "net/sockets.h"

namespace hcomm {
namespace {

// What connect() may say at once of the other end or the way to it; whatever else it says is this end's fault.
bool is_of_the_way(int error) {
  constexpr std::array<int, 6> kOfTheWay = {ECONNREFUSED, ECONNRESET, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, ENETDOWN};
  return std::ranges::find(kOfTheWay, error) != kOfTheWay.end();
}

}  // namespace

Result<std::unique_ptr<KernelNetwork>> KernelNetwork::open(TimeNs silence) {
  std::unique_ptr<KernelNetwork> network(new KernelNetwork(silence));
  if (Status status = network->table_.open(); !status.ok()) return std::move(status).during("opening the network");
  return network;
}

Result<std::unique_ptr<Listener>> KernelNetwork::listen(const Address& at, Watcher& watcher) {
  HCOMM_ASSERT(at.family != Family::none);
  Result<Descriptor> made = listen_on(at);
  if (!made.ok()) return std::move(made).status();
  const Address address = local_address(made.value().get());
  Result<WatchTable::Id> id = table_.add(std::move(made).value(), watcher);
  if (!id.ok()) return std::move(id).status();
  return std::unique_ptr<Listener>(std::make_unique<KernelListener>(table_, id.value(), address));
}

Result<std::unique_ptr<Stream>> KernelNetwork::connect(const Address& to, Watcher& watcher) {
  HCOMM_ASSERT(to.family != Family::none);
  Result<Descriptor> made = make_tcp_socket(to.family);
  if (!made.ok()) return std::move(made).status();
  prepare_connection(made.value());
  const SystemAddress system = to_system(to);
  int error = ::connect(made.value().get(), system.get(), system.bytes) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) error = 0;  // under way; a signal does not stop it
  if (error != 0 && !is_of_the_way(error)) return refused_by_system("cannot connect to " + text(to), error);
  Result<WatchTable::Id> id = table_.add(std::move(made).value(), watcher);
  if (!id.ok()) return std::move(id).status();
  if (error != 0) table_.tell_at(id.value(), 0);
  return std::unique_ptr<Stream>(std::make_unique<KernelStream>(table_, id.value(), to, false, error));
}

Result<std::unique_ptr<Watch>> KernelNetwork::watch(int descriptor, Watcher& watcher) {
  Result<WatchTable::Id> id = table_.add_foreign(descriptor, watcher);
  if (!id.ok()) return std::move(id).status();
  return std::make_unique<Watch>(table_, id.value());
}

}  // namespace hcomm
