// What the tests of public cases share. A test is named after its case (docs/cases.md lists them all).
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"

namespace hcomm::testing {

// All names that HCOMM_ALGO takes, adaptive among them.
std::set<std::string_view> algorithm_names();

Settings settings_for(std::string_view algorithm, std::string_view transport);

// Entries of a folder, dots not counted.
int entries(const char* folder);

// Fails a rank's body: Catch's own checks are for one thread.
inline void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

template <class T>
constexpr hcommDataType_t type_of();
template <>
constexpr hcommDataType_t type_of<int>() { return hcommInt32; }
template <>
constexpr hcommDataType_t type_of<long>() { return hcommInt64; }
template <>
constexpr hcommDataType_t type_of<float>() { return hcommFloat32; }

template <class T>
CollectiveCall allreduce_of(const std::vector<T>& send, std::vector<T>& recv, hcommRedOp_t op = hcommSum) {
  return {.collective = Collective::allreduce, .send = send.data(), .recv = recv.data(), .count = send.size(),
          .dtype = type_of<T>(), .op = op};
}

// Each rank contributes `value`; throws unless the sum is `expected` everywhere.
void sum_of_one(Communicator& rank, long value, long expected, std::size_t count = 1);

}  // namespace hcomm::testing
