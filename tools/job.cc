#include "job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "descendants.h"

namespace hcomm {
namespace {

// End the job (the first four) or are passed on to the ranks.
constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

void complain(const std::string& text) {
  const std::string line = "hcomm run: " + text + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

// So that no descriptor of ours becomes somebody's standard output.
void fill_standard_descriptors() {
  for (int number = 0; number <= 2; ++number) {
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY);
  }
}

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

// What this process waits for. Signals that it was started to ignore (nohup, a background job) stay ignored.
sigset_t awaited_signals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  for (const int signal : kForwarded) {
    if (!is_ignored(signal)) sigaddset(&awaited, signal);
  }
  return awaited;
}

void restore_child_signal() {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, nullptr);  // an ignored SIGCHLD would hide how ranks end
}

// Few are no error yet: a program that does not use hcomm needs fewer.
void check_descriptors(int ranks, rlim_t limit) {
  constexpr rlim_t of_each_rank = 3;  // two pipes, and a connection while it meets the others
  constexpr rlim_t our_own = 16;
  const rlim_t needed = static_cast<rlim_t>(ranks) * of_each_rank + our_own;
  if (limit >= needed) return;
  complain("at most " + std::to_string(limit) + " descriptors can be open (ulimit -Hn), which may be too few: " +
           std::to_string(needed) + " are needed for " + std::to_string(ranks) + " ranks");
}

// The supervisor is gone though the job was not over: its ranks died with it, their children are ours now.
int clean_up_after(int wait_status) {
  const int left = kill_descendants();
  complain("the supervisor " + end_text(wait_status) + "; all processes of the job were killed" +
           (left > 0 ? " but for " + std::to_string(left) : ""));
  return exit_code_of(wait_status);
}

int watch(pid_t supervisor, const Descriptor& lifeline, const sigset_t& awaited) {
  for (;;) {
    int wait_status = 0;
    const pid_t ended = waitpid(supervisor, &wait_status, WNOHANG);
    if (ended == supervisor) return WIFSIGNALED(wait_status) ? clean_up_after(wait_status) : exit_code_of(wait_status);
    siginfo_t facts{};
    const int signal = sigwaitinfo(&awaited, &facts);
    if (signal <= 0 || signal == SIGCHLD) continue;
    const bool from_terminal = facts.si_code == SI_KERNEL;
    const auto word = static_cast<unsigned char>(static_cast<unsigned>(signal) | (from_terminal ? kFromTerminal : 0u));
    [[maybe_unused]] const ssize_t written = write(lifeline.get(), &word, 1);
  }
}

}  // namespace

int run_job(const JobOptions& options, const std::vector<std::string>& command) {
  fill_standard_descriptors();
  StartPlan plan;
  plan.program = find_program(command.front());
  if (!plan.program.problem.empty()) {
    complain(plan.program.problem);
    return plan.program.exit_code;
  }
  plan.arguments = command;
  plan.environment = inherited_environment();
  plan.ignores_pipe_signal = is_ignored(SIGPIPE);
  getrlimit(RLIMIT_NOFILE, &plan.descriptor_limit);
  check_descriptors(options.ranks, plan.descriptor_limit.rlim_max);
  restore_child_signal();
  signal(SIGPIPE, SIG_IGN);
  const sigset_t awaited = awaited_signals();
  sigprocmask(SIG_BLOCK, &awaited, &plan.signal_mask);
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    complain(std::string("cannot make a pipe: ") + std::strerror(errno));
    return 1;
  }
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t supervisor = fork();
  if (supervisor < 0) {
    complain(std::string("cannot start the supervisor: ") + std::strerror(errno));
    return 1;
  }
  if (supervisor == 0) {
    writer.reset();
    _exit(supervise(options, plan, std::move(reader)));
  }
  reader.reset();
  return watch(supervisor, writer, awaited);
}

}  // namespace hcomm
