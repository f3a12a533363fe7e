// Rooms: base, net
//
// Addresses as text and as bytes, names of interfaces, ranges of ports: what is accepted means the same when it is printed and
// read again.
#include "net/address.h"

#include <algorithm>

#include "base/assert.h"
#include "base/parse_network.h"
#include "fuzz/fuzz.h"

namespace hcomm {
namespace {

void read_address(std::string_view given) {
  const Result<Address> parsed = parse_address(given);
  if (!parsed.ok()) {
    HCOMM_ASSERT(parsed.status().code() == hcommInvalidArgument);
    return;
  }
  HCOMM_ASSERT(parse_address(text(parsed.value())).value() == parsed.value());
}

void read_bytes(ConstBytes given) {
  const Result<Address> read = address_from_bytes(given);
  if (read.ok()) HCOMM_ASSERT(std::ranges::equal(to_bytes(read.value()), given));
}

void read_ports(std::string_view given) {
  const Result<PortRange> range = parse_port_range(given);
  if (!range.ok()) return;
  HCOMM_ASSERT(range.value().first <= range.value().last);
  HCOMM_ASSERT(parse_port_range(text(range.value())).value() == range.value());
}

void read_names(std::string_view given) {
  const Result<NameFilter> filter = parse_name_filter(given);
  if (!filter.ok()) return;
  for (const std::string& name : filter.value().names) HCOMM_ASSERT(filter.value().wants(name) != filter.value().without);
}

}  // namespace
}  // namespace hcomm

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = hcomm::text_of(data, size);
  hcomm::read_address(text);
  hcomm::read_bytes(hcomm::bytes_of(data, size));
  hcomm::read_ports(text);
  hcomm::read_names(text);
  return 0;
}
