// How a rank comes to the coordinator of its job: by the Unix socket where they share a network namespace, else over the network.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "bootstrap/job_id.h"
#include "bootstrap/line.h"
#include "net/dialer.h"

namespace hcomm {

struct ApproachOptions {
  int rank = 0;
  int ranks = 1;
  bool by_unix = true;  // may try the socket; over the network it dials id.at, if there are any
  Absent server = Absent::is_an_error;
};

class Approach final : private Watcher {
 public:
  // `sockets` is null where there are no Unix sockets (a simulated network).
  Approach(Network& network, KernelNetwork* sockets, const JobId& id, const ApproachOptions& options);

  // Null until the coordinator is reached; then once.
  Result<std::unique_ptr<Line>> step();
  // Whom it reached was not the right one: it comes again, in a while.
  void again();
  TimeNs next_deadline() const;
  bool remote() const { return remote_; }  // once reached: over the network
  std::string story() const;               // so far, for whoever gives up

 private:
  void ready() override {}  // step() sees what has become of the dialer
  Result<std::unique_ptr<Line>> knock();
  Result<std::unique_ptr<Line>> dial();

  Network& network_;
  KernelNetwork* const sockets_;
  const JobId id_;
  const ApproachOptions options_;
  std::optional<Dialer> dialer_;
  TimeNs knock_at_ = 0;
  bool was_full_ = false;
  bool remote_ = false;
};

}  // namespace hcomm
