#include "rank_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/knobs.h"
#include "bootstrap/launch.h"

namespace hcomm {
namespace {

constexpr std::string_view kUsualPath = "/usr/local/bin:/usr/bin:/bin";

bool is_file(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode);
}

Executable check_program(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    if (errno == EACCES) return {path, kCannotExecute, "cannot look at '" + path + "': " + std::strerror(errno)};
    return {path, kNotFound, "there is no program '" + path + "'"};
  }
  if (S_ISDIR(facts.st_mode)) return {path, kCannotExecute, "'" + path + "' is a folder, not a program"};
  if (access(path.c_str(), X_OK) != 0) {
    return {path, kCannotExecute, "'" + path + "' is not executable (chmod +x makes it so)"};
  }
  return {path, 0, ""};
}

Status cannot(std::string_view what, int error) {
  return Status::failure(hcommSystemError, "cannot " + std::string(what) + ": " + std::strerror(error));
}

// All that a child needs, as pointers that stay valid over the fork.
struct ChildPlan {
  const char* path;
  char* const* arguments;
  char* const* shell_arguments;  // for a script without a first line that names its interpreter
  char* const* environment;
  const StartPlan* plan;
  pid_t parent;
  int input;  // -1: keep
  int output;
  int errors;
  int report;  // takes errno if the program cannot be executed
};

void restore_signals(const StartPlan& plan) {
  struct sigaction usual {};
  usual.sa_handler = plan.ignores_pipe_signal ? SIG_IGN : SIG_DFL;
  sigaction(SIGPIPE, &usual, nullptr);
  sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
}

// Between fork and exec: system calls alone.
[[noreturn]] void become_program(const ChildPlan& child) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child.parent) _exit(kSignalBase + SIGKILL);  // the parent died before that took effect
  const bool wired = (child.input < 0 || dup2(child.input, 0) == 0) && dup2(child.output, 1) == 1 && dup2(child.errors, 2) == 2;
  setrlimit(RLIMIT_NOFILE, &child.plan->descriptor_limit);
  restore_signals(*child.plan);
  if (wired) {
    execve(child.path, child.arguments, child.environment);
    if (errno == ENOEXEC) execve("/bin/sh", child.shell_arguments, child.environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(child.report, &error, sizeof error);
  _exit(error == ENOENT ? kNotFound : kCannotExecute);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

struct Pipe {
  Descriptor reader;
  Descriptor writer;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("make a pipe", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

Executable find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return check_program(name);
  const std::string path = launch_variable("PATH").value_or(std::string(kUsualPath));
  Executable denied;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    at = end + 1;
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (!is_file(candidate)) continue;
    Executable found = check_program(candidate);
    if (found.problem.empty()) return found;
    if (denied.problem.empty()) denied = std::move(found);
  }
  if (!denied.problem.empty()) return denied;
  const std::string hint = is_file(name) ? "; did you mean './" + name + "'?" : "";
  return {name, kNotFound, "there is no program '" + name + "' in PATH" + hint};
}

std::vector<std::string> inherited_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (name != kRankVariable && name != kSizeVariable && name != kJobVariable) environment.emplace_back(text);
  }
  return environment;
}

Result<RankProcess> start_rank(const StartPlan& plan, int rank, int ranks, const std::string& job) {
  std::vector<std::string> environment = plan.environment;
  environment.push_back(std::string(kRankVariable) + "=" + std::to_string(rank));
  environment.push_back(std::string(kSizeVariable) + "=" + std::to_string(ranks));
  environment.push_back(std::string(kJobVariable) + "=" + job);
  std::vector<std::string> shell = {"/bin/sh", plan.program.path};
  shell.insert(shell.end(), plan.arguments.begin() + 1, plan.arguments.end());
  const std::vector<char*> environment_list = pointers(environment);
  const std::vector<char*> argument_list = pointers(plan.arguments);
  const std::vector<char*> shell_list = pointers(shell);

  Result<Pipe> output = make_pipe();
  if (!output.ok()) return std::move(output).status();
  Result<Pipe> errors = make_pipe();
  if (!errors.ok()) return std::move(errors).status();
  Result<Pipe> report = make_pipe();
  if (!report.ok()) return std::move(report).status();
  const Descriptor nothing(rank == 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC));

  const ChildPlan child{plan.program.path.c_str(),
                        argument_list.data(),
                        shell_list.data(),
                        environment_list.data(),
                        &plan,
                        getpid(),
                        nothing.get(),
                        output.value().writer.get(),
                        errors.value().writer.get(),
                        report.value().writer.get()};
  const pid_t pid = fork();
  if (pid < 0) return cannot("start rank " + std::to_string(rank) + " (ulimit -u limits how many processes there can be)", errno);
  if (pid == 0) become_program(child);
  report.value().writer.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(report.value().reader.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    waitpid(pid, nullptr, 0);
    return cannot("execute '" + plan.program.path + "'", error);
  }
  for (const Descriptor* reader : {&output.value().reader, &errors.value().reader}) fcntl(reader->get(), F_SETFL, O_NONBLOCK);
  return RankProcess{pid, std::move(output.value().reader), std::move(errors.value().reader)};
}

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalBase + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string end_text(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "exited with code " + std::to_string(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const char* const name = sigabbrev_np(signal);
  return "was killed by signal " + std::to_string(signal) + (name == nullptr ? "" : " (SIG" + std::string(name) + ")") +
         (WCOREDUMP(wait_status) ? ", core dumped" : "");
}

}  // namespace hcomm
