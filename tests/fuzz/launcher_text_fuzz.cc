// Rooms: base, net, bootstrap
//
// Texts that launchers and the kernel write: lists of hosts are bounded and their names are names; a line about a process has
// what it is read for.
#include <algorithm>

#include "base/assert.h"
#include "bootstrap/node_list.h"
#include "bootstrap/surroundings.h"
#include "fuzz/fuzz.h"

namespace hcomm {
namespace {

void read_hosts(std::string_view given) {
  const Result<std::vector<std::string>> hosts = expand_node_list(given);
  if (!hosts.ok()) {
    HCOMM_ASSERT(hosts.status().code() == hcommInvalidArgument);
    return;
  }
  HCOMM_ASSERT(!hosts.value().empty() && hosts.value().size() <= kMaxListedHosts);
  for (const std::string& host : hosts.value()) {
    HCOMM_ASSERT(!host.empty() && host.size() <= kMaxHostNameBytes);
    HCOMM_ASSERT(expand_node_list(host).value() == std::vector<std::string>{host});  // without brackets it is itself
  }
}

void read_process(std::string_view given) {
  int parent = 0;
  const std::optional<Ancestor> process = parse_process(given, parent);
  if (!process.has_value()) return;
  const auto is_printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
  HCOMM_ASSERT(std::ranges::all_of(process->name, is_printable));
}

}  // namespace
}  // namespace hcomm

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hcomm::read_hosts(hcomm::text_of(data, size));
  hcomm::read_process(hcomm::text_of(data, size));
  return 0;
}
