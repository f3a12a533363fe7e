// The transports there are, as data. Nobody above names one.
#pragma once

#include <span>
#include <string_view>

namespace hcomm {

struct TransportRecord {
  std::string_view name;   // as written in HCOMM_TRANSPORT=shm,loopback
  int priority;            // the highest that reaches all peers wins
  bool between_processes;  // else only between threads of one
  bool between_hosts;
};

// Best first.
std::span<const TransportRecord> transports();

// Null if there is none of that name.
const TransportRecord* find_transport(std::string_view name);

}  // namespace hcomm
