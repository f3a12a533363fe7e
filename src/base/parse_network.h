// What people write of networks, read as strictly as the rest (base/parse.h): names of interfaces, and ranges of ports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hcomm {

// Which names are wanted: "eth,enp" those that begin so, "^docker" all that do not, "=eth0" that one, "^=eth0" all but that one.
struct NameFilter {
  bool without = false;
  bool exact = false;
  std::vector<std::string> names;  // none: all names are wanted

  bool wants(std::string_view name) const;
};
Result<NameFilter> parse_name_filter(std::string_view text);

// "60000-60100", or "auto": the system chooses.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  bool automatic() const { return first == 0; }
  friend bool operator==(const PortRange&, const PortRange&) = default;
};
Result<PortRange> parse_port_range(std::string_view text);
std::string text(const PortRange& range);

}  // namespace hcomm
