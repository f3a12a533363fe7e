#include "verify/case_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "schedule/text.h"

namespace hcomm {
namespace {

void read_comment(const std::string& line, CaseFile& file) {
  std::istringstream words(line);
  std::string hash, key, rest;
  words >> hash >> key >> std::ws;
  std::getline(words, rest);
  if (key == "expect:") file.fault = rest;
  if (key == "story:") file.words.push_back(rest);
  if (key == "pair") file.is_pair = true;
  if (key != "calls:") return;
  std::istringstream calls(rest);
  std::size_t which = 0;
  char times = 'x';
  int chunks = 0;
  while (calls >> which >> times >> chunks) file.calls.emplace_back(which, chunks);
}

void add_schedule(const std::string& text, CaseFile& file) {
  Result<Schedule> parsed = parse_schedule(text);
  if (!parsed.ok()) throw std::runtime_error(file.name + ": " + std::string(parsed.status().trail()));
  file.schedules.push_back(std::move(parsed).value());
}

}  // namespace

CaseFile read_case(const std::filesystem::path& path) {
  std::ifstream stream(path);
  CaseFile file{.name = path.filename().string()};
  std::string line, text;
  while (std::getline(stream, line)) {
    if (line.starts_with("#")) read_comment(line, file);
    if (line == "====") {
      add_schedule(std::exchange(text, {}), file);
    } else {
      text += line + "\n";
    }
  }
  add_schedule(text, file);
  return file;
}

std::vector<CaseFile> read_cases(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TEST_SOURCE_DIR) / "verify" / folder)) {
    if (entry.path().extension() == ".schedule") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<CaseFile> files;
  for (const auto& path : paths) files.push_back(read_case(path));
  return files;
}

Judgement judge_case(const CaseFile& file) {
  if (file.is_pair) return verify_pair(file.schedules.at(0), file.schedules.at(1));
  if (file.calls.empty()) return verify(file.schedules.at(0));
  std::vector<Call> calls;
  for (const auto& [which, chunks] : file.calls) calls.push_back({&file.schedules.at(which), chunks, {}});
  return verify_calls(calls);
}

}  // namespace hcomm
