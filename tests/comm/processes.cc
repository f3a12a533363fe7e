#include "processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "base/clock.h"
#include "comm/init.h"
#include "world.h"

namespace hcomm::testing {
namespace {

constexpr TimeNs kPatience = 60 * kSecond;

[[noreturn]] void be_rank(int rank, int ranks, const hcommUniqueId& id, const Settings& settings, int report_to,
                          const std::function<std::string(Communicator&)>& body) {
  std::string report;
  try {
    auto made = init_rank(ranks, id, rank, with_environment_slots(settings));
    require(made.status());
    report = body(*made.value());
  } catch (const std::exception& problem) {
    report = std::string("exception: ") + problem.what();
  }
  for (std::size_t sent = 0; sent < report.size();) {
    const ssize_t now = write(report_to, report.data() + sent, report.size() - sent);
    if (now <= 0) break;
    sent += static_cast<std::size_t>(now);
  }
  _exit(0);
}

// Everything until the pipe's other end is gone, or patience is.
std::string read_all(int from, TimeNs deadline) {
  std::string text;
  char buffer[4096];
  while (true) {
    const TimeNs left = (deadline - MonotonicClock().now()) / kMillisecond;
    pollfd wanted{.fd = from, .events = POLLIN, .revents = 0};
    if (left <= 0 || poll(&wanted, 1, static_cast<int>(left)) <= 0) return text;
    const ssize_t got = read(from, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::vector<Ended> run_processes(int ranks, const Settings& settings, const std::function<std::string(Communicator&)>& body,
                                 const std::function<void(const std::vector<pid_t>&)>& meanwhile) {
  hcommUniqueId id;
  require(make_unique_id(id, with_environment_slots(settings)));
  std::vector<Ended> all(static_cast<std::size_t>(ranks));
  std::vector<int> reports;
  std::vector<pid_t> pids;
  for (int rank = 0; rank < ranks; ++rank) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe for a test");
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("no process for a test");
    if (pid == 0) {
      close(ends[0]);
      for (const int other : reports) close(other);
      be_rank(rank, ranks, id, settings, ends[1], body);
    }
    close(ends[1]);
    reports.push_back(ends[0]);
    pids.push_back(pid);
    all[static_cast<std::size_t>(rank)].pid = pid;
  }
  if (meanwhile) meanwhile(pids);
  const TimeNs deadline = MonotonicClock().now() + kPatience;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    all[rank].report = read_all(reports[rank], deadline);
    all[rank].reported = !all[rank].report.empty();
    close(reports[rank]);
  }
  for (Ended& each : all) {
    if (MonotonicClock().now() >= deadline) kill(each.pid, SIGKILL);
    waitpid(each.pid, &each.wait_status, 0);
  }
  return all;
}

}  // namespace hcomm::testing
