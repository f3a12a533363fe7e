#include "transport/table.h"

#include <array>

namespace hcomm {
namespace {

constexpr std::array kTransports = {
    TransportRecord{.name = "shm", .priority = 20, .between_processes = true, .between_hosts = false},
    TransportRecord{.name = "tcp", .priority = 15, .between_processes = true, .between_hosts = true},
    TransportRecord{.name = "loopback", .priority = 10, .between_processes = false, .between_hosts = false},
};

}  // namespace

std::span<const TransportRecord> transports() { return kTransports; }

const TransportRecord* find_transport(std::string_view name) {
  for (const TransportRecord& record : kTransports) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

}  // namespace hcomm
