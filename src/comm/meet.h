// From what this process was told to a meeting with the other ranks: who it says it is, where it listens, and who makes the
// memory that the ranks of a host share.
#pragma once

#include <cstdint>
#include <vector>

#include "base/knobs.h"
#include "base/status.h"
#include "bootstrap/join.h"
#include "bootstrap/launch.h"

namespace hcomm {

struct Appointment {
  JobId job;
  int rank = 0;
  int ranks = 1;
  std::uint64_t round = 0;
  bool many_rounds = false;  // the job meets again, and then shares the same segments
  Absent server = Absent::is_an_error;
  std::vector<Address> addresses;  // where this rank's links are listened for
};

// Collective.
Result<Meeting> meet(const Appointment& appointment, const KnobReading& knobs);

// Whom this process shares memory with: those that are told the same HCOMM_HOST_ID or, without it, those of the same host.
HostId host_of(const Settings& settings);

// Where ranks of other hosts may reach this process (port 0); this host's loopback only if there is nothing else.
Result<std::vector<Address>> places_to_listen(const Settings& settings, std::size_t most);

// The id of a run whose ranks are on several hosts: with a secret that strangers cannot know, and where its rank 0 listens.
Result<JobId> id_between_hosts(const Launch& launch, const Settings& settings);

// Where rank 0 listens for a job whose ranks dial these addresses: at those of them that are this host's; at its interfaces, with
// that port, where a name does not say (a name of a service, or this host's own name, which often means a loopback address).
Result<std::vector<Address>> places_of(const std::vector<Address>& dialled, const Settings& settings);

}  // namespace hcomm
