#include "processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "comm/init.h"
#include "world.h"

namespace hcomm::testing {
namespace {

constexpr TimeNs kPatience = 60 * kSecond;

// Processes are forked while this one has a single thread: a lock that another thread holds at that moment (the sanitizers'
// allocators have such) would stay locked in the child for ever. The server of an earlier meeting may still be ending.
void await_single_thread() {
  for (int turn = 0; turn < 2000; ++turn) {
    int threads = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task")) ++threads;
    if (threads == 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// What a rank has of its parent: the id comes through a pipe, after the fork, because its server is a thread.
struct Ends {
  int id_from = -1;
  int report_to = -1;
};

[[noreturn]] void be_rank(int rank, int ranks, const Settings& settings, Ends ends,
                          const std::function<std::string(Communicator&)>& body) {
  const int report_to = ends.report_to;
  std::string report;
  try {
    hcommUniqueId id;
    if (read(ends.id_from, &id, sizeof id) != sizeof id) throw std::runtime_error("no id came");
    close(ends.id_from);
    auto made = init_rank(ranks, id, rank, settings_of_process(settings, rank, ranks));
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

// One new id for all; what is so short goes into a pipe whole.
void send_id(const std::vector<int>& ids, const Settings& settings) {
  hcommUniqueId id;
  require(make_unique_id(id, settings_of_process(settings, 0, 1)));
  for (const int each : ids) {
    if (write(each, &id, sizeof id) != sizeof id) throw std::runtime_error("a rank of a test is gone");
    close(each);
  }
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
  await_single_thread();
  std::vector<Ended> all(static_cast<std::size_t>(ranks));
  std::vector<int> reports, ids;
  std::vector<pid_t> pids;
  for (int rank = 0; rank < ranks; ++rank) {
    int report[2], id[2];
    if (pipe(report) != 0 || pipe(id) != 0) throw std::runtime_error("no pipe for a test");
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("no process for a test");
    if (pid == 0) {
      for (const int other : {report[0], id[1]}) close(other);
      for (const int other : reports) close(other);
      for (const int other : ids) close(other);
      be_rank(rank, ranks, settings, {.id_from = id[0], .report_to = report[1]}, body);
    }
    for (const int other : {report[1], id[0]}) close(other);
    reports.push_back(report[0]);
    ids.push_back(id[1]);
    pids.push_back(pid);
    all[static_cast<std::size_t>(rank)].pid = pid;
  }
  send_id(ids, settings);
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
