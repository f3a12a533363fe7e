// How the ranks of a simulated world meet: by the classes of bootstrap, over the simulated network, each rank on a host of its
// own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bootstrap/attendant.h"
#include "bootstrap/server.h"
#include "bootstrap/tcp_door.h"
#include "sim_network.h"

namespace hcomm::simulation {

inline constexpr TimeNs kIdleStep = 20 * kMillisecond;  // between looks at the clock

// The id of the job that meets at this node.
JobId job_at(int node);

// What serves the meeting, on a node.
class SimServer {
 public:
  SimServer(Internet& internet, int node, const JobId& id, int ranks);

  bool is_due() const;
  void turn();

 private:
  std::unique_ptr<SimNetwork> network_;
  std::unique_ptr<TcpDoor> door_;
  Server server_;
  TimeNs looked_at_ = -kSecond;
};

// One rank's way into it.
class SimJoining {
 public:
  SimJoining(Internet& internet, const JobId& id, int rank, int ranks, Absent server, const Address& listens_at);

  bool is_due() const;
  // What came of it, once it has ended; then no more turns.
  std::optional<Result<Meeting>> turn();

 private:
  std::unique_ptr<SimNetwork> network_;
  const JoinOptions options_;
  Attendant attendant_;
  TimeNs looked_at_ = -kSecond;
};

}  // namespace hcomm::simulation
