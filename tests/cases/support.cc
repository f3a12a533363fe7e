#include "support.h"

#include <dirent.h>

#include <algorithm>

#include "algos/algorithm.h"
#include "comm/world.h"

namespace hcomm::testing {

std::set<std::string_view> algorithm_names() {
  std::set<std::string_view> names{"adaptive"};
  for (const Algorithm* const each : algorithms()) names.insert(each->name);
  return names;
}

Settings settings_for(std::string_view algorithm, std::string_view transport) {
  Settings settings;
  settings.algo = algorithm;
  settings.transport = transport;
  settings.timeout_ns = 60 * kSecond;
  settings.connect_timeout_ns = 60 * kSecond;
  return settings;
}

int entries(const char* folder) {
  int count = -2;
  if (DIR* const directory = opendir(folder)) {
    while (readdir(directory) != nullptr) ++count;
    closedir(directory);
  }
  return count;
}

void sum_of_one(Communicator& rank, long value, long expected, std::size_t count) {
  const std::vector<long> send(count, value);
  std::vector<long> recv(count, -1);
  require(rank.run(allreduce_of(send, recv)));
  const auto right = std::ranges::count(recv, expected);
  expect(static_cast<std::size_t>(right) == count, "a wrong sum: " + std::to_string(recv.front()) + ", not " +
                                                       std::to_string(expected) + ", on rank " + std::to_string(rank.rank()));
}

}  // namespace hcomm::testing
