// One rank of `hcomm run`: how it is started, and what its end means.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"

namespace hcomm {

// Exit codes that shells use.
inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kSignalBase = 128;

// A program as it can be executed, or why not.
struct Executable {
  std::string path;
  int exit_code = 0;    // kCannotExecute or kNotFound
  std::string problem;  // empty: none
};
// Looks along PATH where the name holds no '/', as a shell does.
Executable find_program(const std::string& name);

// What all ranks are started with, prepared before the first fork: a child only makes system calls.
struct StartPlan {
  Executable program;
  std::vector<std::string> arguments;    // with the program's name as given
  std::vector<std::string> environment;  // "NAME=value", without what a rank gets of its own
  sigset_t signal_mask;                  // of the launcher when it was started
  bool ignores_pipe_signal = false;      // likewise
  rlimit descriptor_limit{};             // likewise
};

// This process's environment without HCOMM_RANK, HCOMM_SIZE and HCOMM_JOB.
std::vector<std::string> inherited_environment();

struct RankProcess {
  pid_t pid = -1;
  Descriptor output;  // read ends, non-blocking
  Descriptor errors;
};

// Starts one rank; it dies with the calling thread. Rank 0 keeps standard input, others get /dev/null. A failure of the start or
// of the execution itself is a Status that says why.
Result<RankProcess> start_rank(const StartPlan& plan, int rank, int ranks, const std::string& job);

// The exit code for a wait status: the program's own, or 128 and the signal's number.
int exit_code_of(int wait_status);
// "exited with code 3", "was killed by signal 11 (SIGSEGV)"
std::string end_text(int wait_status);

}  // namespace hcomm
