#include "descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace hcomm {
namespace {

constexpr int kKillTurns = 400;
constexpr long kKillPauseNs = 5'000'000;

// Field numbers of /proc/PID/stat after the name, which may hold anything and ends at the last ')'.
constexpr int kStateField = 0;
constexpr int kParentField = 1;
constexpr int kThreadsField = 17;
constexpr int kStartField = 19;

std::optional<Descendant> read_process(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return std::nullopt;
  std::array<char, 1024> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) return std::nullopt;
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
  text.remove_prefix(name_end + 2);
  Descendant process{pid, 0, 0};
  bool ended = false;
  int threads = 0;
  for (int field = 0; field <= kStartField; ++field) {
    const std::string_view value = text.substr(0, text.find(' '));
    if (field == kStateField) ended = value == "Z" || value == "X";
    if (field == kParentField) std::from_chars(value.data(), value.data() + value.size(), process.parent);
    if (field == kThreadsField) std::from_chars(value.data(), value.data() + value.size(), threads);
    if (field == kStartField) std::from_chars(value.data(), value.data() + value.size(), process.start);
    if (value.size() == text.size()) break;
    text.remove_prefix(value.size() + 1);
  }
  if (ended && threads <= 1) return std::nullopt;  // more: only the first thread of the process has ended
  return process;
}

std::vector<Descendant> all_processes() {
  std::vector<Descendant> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (folder == nullptr) return processes;
  while (const dirent* entry = readdir(folder.get())) {
    pid_t pid = 0;
    const std::string_view name(entry->d_name);
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    if (const auto process = read_process(pid)) processes.push_back(*process);
  }
  return processes;
}

// The pidfd holds on to the process while its facts are compared once more.
void signal_exactly(const Descendant& target, int signal) {
  const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, target.pid, 0)));
  if (!handle.open()) return;
  const std::optional<Descendant> now = read_process(target.pid);
  if (now.has_value() && now->start == target.start) syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
}

}  // namespace

std::vector<Descendant> descendants() {
  std::multimap<pid_t, Descendant> by_parent;
  for (const Descendant& process : all_processes()) by_parent.emplace(process.parent, process);
  std::vector<Descendant> family;
  std::vector<pid_t> parents = {getpid()};
  while (!parents.empty()) {
    const auto [first, last] = by_parent.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      family.push_back(child->second);
      parents.push_back(child->second.pid);
    }
  }
  return family;
}

int signal_descendants(int signal) {
  const std::vector<Descendant> family = descendants();
  for (const Descendant& process : family) signal_exactly(process, signal);
  return static_cast<int>(family.size());
}

void reap_orphans() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

int kill_descendants() {
  int left = 0;
  for (int turn = 0; turn < kKillTurns; ++turn) {
    left = signal_descendants(SIGKILL);
    reap_orphans();
    if (left == 0) return 0;
    const timespec pause{0, kKillPauseNs};
    nanosleep(&pause, nullptr);
  }
  return left;
}

}  // namespace hcomm
