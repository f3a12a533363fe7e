#include "support.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

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

pid_t forked(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(60);
  try {
    body();
  } catch (const std::exception& problem) {
    const std::string text = std::string("in a child: ") + problem.what() + "\n";
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    _exit(1);
  }
  _exit(0);
}

int exit_code(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
