// Feeds a target what is known to be interesting: replay CORPUS... (folders or files), each input as it is, cut at many places,
// and with seeded changes. Prints the name of the input when the target aborts; prints "N passed, 0 failed" otherwise.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "fuzz/fuzz.h"

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMostCuts = 200;
constexpr int kChangesOfEach = 300;

std::string current_name;  // for the signal handler

void say_which(int) {
  static_cast<void>(!write(STDERR_FILENO, current_name.data(), current_name.size()));
  static_cast<void>(!write(STDERR_FILENO, "\n", 1));
}

Input read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

void feed(const Input& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

Input changed(Input input, hcomm::Random& random) {
  for (std::uint64_t change = 0; change <= random.below(4); ++change) {
    if (input.empty()) return input;
    const auto at = static_cast<std::ptrdiff_t>(random.below(input.size()));
    const auto value = static_cast<std::uint8_t>(random.below(256));
    switch (random.below(4)) {
      case 0: input[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1u << (value % 8)); break;
      case 1: input[static_cast<std::size_t>(at)] = value; break;
      case 2: input.insert(input.begin() + at, value); break;
      case 3: input.erase(input.begin() + at); break;
    }
  }
  return input;
}

void replay(const std::filesystem::path& path) {
  current_name = "aborted by " + path.string() + ", as it is, cut, or changed";
  const Input input = read_file(path);
  feed(input);
  const std::size_t step = std::max<std::size_t>(1, input.size() / kMostCuts);
  for (std::size_t length = 0; length < input.size(); length += step) {
    feed(Input(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(length)));
  }
  hcomm::Random random(input.size());
  for (int i = 0; i < kChangesOfEach; ++i) feed(changed(input, random));
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGABRT, say_which);
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < count; ++i) {
    if (std::filesystem::is_directory(arguments[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) paths.push_back(entry.path());
    } else {
      paths.push_back(arguments[i]);
    }
  }
  std::ranges::sort(paths);
  for (const std::filesystem::path& path : paths) replay(path);
  std::printf("%zu passed, %d failed\n", paths.size(), paths.empty() ? 1 : 0);
  return paths.empty() ? 1 : 0;
}
