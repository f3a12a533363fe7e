// Schedules in files, with what is expected of them.
//
// A file has comment lines and one or more schedules with lines "====" between them. Comments that mean something:
//   # expect: race         the fault; without it the schedule is right
//   # story: words         words of the story, each such line
//   # pair                 two schedules, judged by verify_pair
//   # calls: 0x1 1x2       or this sequence of calls: schedule 0 with 1 chunk, schedule 1 with 2
// Otherwise verify() judges the only schedule.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "verify/verify.h"

namespace hcomm {

struct CaseFile {
  std::string name;
  std::string fault = "none";
  std::vector<std::string> words;
  bool is_pair = false;
  std::vector<std::pair<std::size_t, int>> calls;  // (schedule, chunks)
  std::vector<Schedule> schedules;
};

CaseFile read_case(const std::filesystem::path& path);

// Every file of a folder of tests/verify, in order of names.
std::vector<CaseFile> read_cases(const std::string& folder);

Judgement judge_case(const CaseFile& file);

}  // namespace hcomm
