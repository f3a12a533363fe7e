// Goal: every line of the log arrives whole, says who wrote it, and never lands where a program's own output goes.
// Method: threads and processes write at once; each line that arrived is matched against the one form a line has.
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/tracer.h"
#include "captured_fd.h"
#include "child.h"
#include "temp_folder.h"

namespace {
std::atomic<int> allocations{0};
}

// The allocator, counted.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace hcomm {
namespace {

const std::regex kLineForm(
    R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \S+ (\d+) rank (\d+|-) (error|warn|info|trace) ([a-z]+): (.*))");

// Puts the log back to what a program finds at its start.
struct RestoredLog {
  ~RestoredLog() { configure_log(LogLevel::warn, "", -1); }
};

std::string contents(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  CHECK((text.empty() || text.back() == '\n'));
  return lines;
}

std::smatch match(const std::string& line) {
  INFO(line);
  std::smatch parts;
  REQUIRE(std::regex_match(line, parts, kLineForm));
  return parts;
}

TEST_CASE("a line has time, host, process, rank, level, subsystem and text, on standard error alone") {
  const RestoredLog restored;
  CapturedFd output(STDOUT_FILENO);
  CapturedFd error(STDERR_FILENO);
  configure_log(LogLevel::info, "", 3);
  log(LogLevel::info, "comm", "four ranks met");
  log(LogLevel::trace, "comm", "not wanted");
  configure_log(LogLevel::info, "", -1);
  log(LogLevel::error, "comm", "no rank");
  const std::vector<std::string> lines = lines_of(error.text());
  CHECK(output.text().empty());
  REQUIRE(lines.size() == 2);
  const std::smatch parts = match(lines[0]);
  CHECK(parts[1] == std::to_string(getpid()));
  CHECK(parts[2] == "3");
  CHECK(parts[3] == "info");
  CHECK(parts[4] == "comm");
  CHECK(parts[5] == "four ranks met");
  CHECK(match(lines[1])[2] == "-");
}

TEST_CASE("levels include the ones before them, and none is silence") {
  const RestoredLog restored;
  const LogLevel levels[] = {LogLevel::none, LogLevel::error, LogLevel::warn, LogLevel::info, LogLevel::trace};
  for (const LogLevel configured : levels) {
    configure_log(configured, "", 0);
    for (const LogLevel line : levels) {
      INFO(name(configured) << " " << name(line));
      CHECK(log_enabled(line) == (line != LogLevel::none && line <= configured));
    }
  }
}

TEST_CASE("a line that is not wanted costs no allocation, and one that is wanted neither") {
  const RestoredLog restored;
  const TempFolder folder;
  configure_log(LogLevel::warn, folder.file("log"), 0);
  const int before = allocations.load();
  for (int turn = 0; turn < 100; ++turn) log(LogLevel::info, "test", "dropped");
  for (int turn = 0; turn < 100; ++turn) log(LogLevel::warn, "test", "written");
  CHECK(allocations.load() == before);
  CHECK(lines_of(contents(folder.file("log"))).size() == 100);
}

TEST_CASE("lines of eight threads do not mix") {
  const RestoredLog restored;
  const TempFolder folder;
  constexpr int kThreads = 8;
  constexpr int kLines = 500;
  configure_log(LogLevel::info, folder.file("log"), 1);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([number] {
      const std::string filling(static_cast<std::size_t>(number) * 100, 'x');
      const std::string text = "thread " + std::to_string(number) + filling + " end";
      for (int turn = 0; turn < kLines; ++turn) log(LogLevel::info, "test", text);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> counts(kThreads);
  for (const std::string& line : lines_of(contents(folder.file("log")))) {
    const std::string text = match(line)[5];
    const int number = text.at(7) - '0';
    REQUIRE((number >= 0 && number < kThreads));
    REQUIRE(text.size() == 8 + static_cast<std::size_t>(number) * 100 + 4);
    ++counts[static_cast<std::size_t>(number)];
  }
  for (const int count : counts) CHECK(count == kLines);
}

TEST_CASE("processes append to a common file, and the last line before a kill is there") {
  const RestoredLog restored;
  const TempFolder folder;
  constexpr int kRanks = 8;
  constexpr int kLines = 50;
  std::vector<pid_t> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(testing::forked([&] {
      configure_log(LogLevel::info, folder.file("log"), rank);
      for (int turn = 1; turn < kLines; ++turn) log(LogLevel::info, "test", "at work");
      log(LogLevel::info, "test", "last words");
      raise(SIGKILL);
    }));
  }
  for (const pid_t child : children) CHECK(testing::exit_code(child) == 128 + SIGKILL);
  int last_words = 0;
  const std::vector<std::string> lines = lines_of(contents(folder.file("log")));
  for (const std::string& line : lines) last_words += match(line)[5] == "last words" ? 1 : 0;
  CHECK(lines.size() == kRanks * kLines);
  CHECK(last_words == kRanks);
}

TEST_CASE("a pattern names host, process and rank") {
  const RestoredLog restored;
  const TempFolder folder;
  char host[256] = {};
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  const std::string process = std::to_string(getpid());
  configure_log(LogLevel::warn, folder.file("%h-%p-%r-%%-%x-%"), 12);
  log(LogLevel::warn, "test", "one");
  configure_log(LogLevel::warn, folder.file("rank %r"), -1);
  log(LogLevel::warn, "test", "two");
  CHECK(lines_of(contents(folder.file(std::string(host).substr(0, 64) + "-" + process + "-12-%-%x-%"))).size() == 1);
  CHECK(lines_of(contents(folder.file("rank all"))).size() == 1);
}

TEST_CASE("a path that cannot be written is one warning, and lines go to standard error") {
  const RestoredLog restored;
  const TempFolder folder;
  const std::string path = folder.file("no/such/folder/log");
  CapturedFd output(STDOUT_FILENO);
  CapturedFd error(STDERR_FILENO);
  configure_log(LogLevel::error, path, 2);
  configure_log(LogLevel::error, path, 2);
  log(LogLevel::error, "test", "still heard");
  const std::vector<std::string> lines = lines_of(error.text());
  CHECK(output.text().empty());
  REQUIRE(lines.size() == 2);
  const std::string warning = match(lines[0])[5];
  CHECK(warning.find(path) != std::string::npos);
  CHECK(warning.find("HCOMM_DEBUG_FILE") != std::string::npos);
  CHECK(warning.find("No such file") != std::string::npos);
  CHECK(match(lines[1])[5] == "still heard");
}

TEST_CASE("whatever the text, a line is one line of bounded length") {
  const RestoredLog restored;
  const TempFolder folder;
  configure_log(LogLevel::warn, folder.file("log"), 0);
  log(LogLevel::warn, "test", "timed out [a.cc:1]\n  waiting [b.cc:2]\n\n  running [c.cc:3]\n");
  log(LogLevel::warn, "test", std::string_view("bell \a, tab \t, nul \0, delete \x7f", 30));
  log(LogLevel::warn, "test", std::string(100000, 'x'));
  log(LogLevel::warn, "test", "");
  const std::vector<std::string> lines = lines_of(contents(folder.file("log")));
  REQUIRE(lines.size() == 4);
  CHECK(match(lines[0])[5] == "timed out [a.cc:1] | waiting [b.cc:2] | running [c.cc:3]");
  CHECK(match(lines[1])[5] == "bell ?, tab ?, nul ?, delete ?");
  CHECK(lines[2].size() + 1 <= kMaxLogLine);
  CHECK(lines[2].size() + 1 > kMaxLogLine - 8);
  CHECK(lines[2].ends_with("xxx..."));
}

TEST_CASE("logging leaves errno alone") {
  const RestoredLog restored;
  CapturedFd error(STDERR_FILENO);
  configure_log(LogLevel::warn, "", 0);
  errno = ENOTDIR;
  log(LogLevel::warn, "test", "something");
  CHECK(errno == ENOTDIR);
}

TEST_CASE("a tracer that is not interested does nothing") {
  class Counting : public Tracer {
   public:
    void call_ended(const CallTrace& trace) override { bytes += trace.bytes; }
    std::size_t bytes = 0;
  };
  Counting tracer;
  Tracer& hook = tracer;
  hook.call_started({.sequence = 1, .bytes = 8, .result = hcommInProgress});
  hook.call_ended({.sequence = 1, .bytes = 8});
  CHECK(tracer.bytes == 8);
}

}  // namespace
}  // namespace hcomm
