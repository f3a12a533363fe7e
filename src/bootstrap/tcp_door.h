// Where ranks come in over the network: some listeners, each with its acceptor. Whoever leaves here has shown that it holds the
// job's secret and means this rank of this job. Poll-driven, one thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bootstrap/job_id.h"
#include "bootstrap/line.h"
#include "net/acceptor.h"

namespace hcomm {

class TcpDoor final : private Host {
 public:
  struct Plan {
    std::vector<Address> at;  // each that can be listened at, one at least
    PortRange ports;          // where an address has port 0
    int rank = 0;             // whom the guests want to meet there; the coordinator is met as rank 0
    std::function<void(std::string_view line)> warn = {};
  };
  static Result<std::unique_ptr<TcpDoor>> open(Network& network, const JobId& job, Plan plan);

  struct Guest {
    std::unique_ptr<FrameLine> line;
    std::int32_t rank = 0;  // as it claims
  };
  std::optional<Guest> next(TimeNs now);
  TimeNs next_deadline() const;
  std::vector<Address> addresses() const;  // with the ports that the system chose

 private:
  TcpDoor(const JobId& job, Plan plan) : job_(job), plan_(std::move(plan)) {}
  Refusal judge(const Claim& claim) override;
  void arrived(const Claim& claim, std::unique_ptr<Stream> stream) override;
  void lost(const Claim&) override {}
  void report(std::string_view line) override;

  const JobId job_;
  const Plan plan_;
  std::deque<Guest> guests_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
};

}  // namespace hcomm
