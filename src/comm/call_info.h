// What the last call of a communicator ran; for perf, plan and tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hcomm {

struct CallInfo {
  std::string_view algorithm;
  std::string_view transport;
  std::uint64_t schedule_hash = 0;
  std::size_t chunks = 0;
  std::uint64_t sequence = 0;
};

}  // namespace hcomm
