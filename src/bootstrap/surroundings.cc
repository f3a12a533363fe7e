#include "bootstrap/surroundings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/knobs.h"
#include "base/descriptor.h"
#include "bootstrap/message.h"

namespace hcomm {
namespace {

constexpr std::size_t kStateField = 3;  // of /proc/PID/stat, counted from 1; the name before it may hold blanks
constexpr std::size_t kParentField = 4;
constexpr std::size_t kStartField = 22;

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// At most `most` bytes and one more, which says that there is more.
Result<std::string> read_whole(const Descriptor& file, const std::string& path, std::size_t most) {
  std::string contents;
  std::array<char, 16384> part;
  while (contents.size() <= most) {
    const ssize_t got = read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::failure(hcommSystemError, "cannot read " + printable(path) + ": " + std::strerror(errno));
    if (got == 0) return contents;
    contents.append(part.data(), static_cast<std::size_t>(got));
  }
  return Status::failure(hcommInvalidArgument, printable(path) + " has more than " + std::to_string(most) + " bytes");
}

std::vector<Ancestor> own_ancestors() {
  constexpr std::size_t longest_line = 4096;
  std::vector<Ancestor> ancestors;
  int parent = getppid();
  while (parent > 0 && ancestors.size() < kMaxAncestors) {
    const std::string path = "/proc/" + std::to_string(parent) + "/stat";
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open()) break;  // another user's, of another namespace, or no /proc: what is known so far is all
    const Result<std::string> line = read_whole(file, path, longest_line);
    if (!line.ok()) break;
    std::optional<Ancestor> ancestor = parse_process(line.value(), parent);
    if (!ancestor.has_value()) break;
    ancestors.push_back(*std::move(ancestor));
  }
  return ancestors;
}

}  // namespace

std::optional<Ancestor> parse_process(std::string_view line, int& parent) {
  const std::size_t open_at = line.find('(');
  const std::size_t close_at = line.rfind(')');
  if (open_at == std::string_view::npos || close_at == std::string_view::npos || open_at < 2 || close_at < open_at) return {};
  Ancestor process;
  if (!read_number(line.substr(0, open_at - 1), process.pid)) return {};
  process.name = printable(line.substr(open_at + 1, close_at - open_at - 1));
  std::string_view rest = line.substr(close_at + 1);
  bool parent_read = false;
  for (std::size_t field = kStateField; field <= kStartField; ++field) {
    if (!rest.starts_with(' ')) return {};
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(word.size());
    if (field == kParentField) parent_read = read_number(word, parent);
    if (field == kStartField && parent_read && read_number(word, process.started)) return process;
  }
  return {};
}

Result<std::string> read_launch_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.open()) {
    return Status::failure(hcommInvalidArgument, "cannot open " + printable(path) + ": " + std::strerror(errno));
  }
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Status::failure(hcommInvalidArgument, printable(path) + " is no regular file");
  }
  return read_whole(file, path, kMaxLaunchFileBytes);
}

Surroundings own_surroundings() {
  return {.variable = launch_variable, .read_file = read_launch_file, .ancestors = own_ancestors(), .user = geteuid()};
}

}  // namespace hcomm
