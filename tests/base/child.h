// Children of a fork, which say by their exit code how it went: a Catch assertion does not work in them.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <type_traits>

#include "base/assert.h"

namespace hcomm::testing {

inline constexpr int kThrew = 99;
inline constexpr unsigned kLongestChildSeconds = 60;

// Forks. The child ends with what body returns, with 0 if that is nothing, or with kThrew after it has told on standard error
// what body threw; and by a signal if it takes too long.
template <class Body>
pid_t forked(Body&& body) {
  const pid_t child = fork();
  HCOMM_ASSERT(child >= 0);
  if (child != 0) return child;
  alarm(kLongestChildSeconds);
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      _exit(0);
    } else {
      _exit(body());
    }
  } catch (const std::exception& problem) {
    dprintf(STDERR_FILENO, "in a child: %s\n", problem.what());
  }
  _exit(kThrew);
}

// Waits for a child: its exit code, or 128 + the signal that ended it; -1 for what is no child.
inline int exit_code(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Of a child that runs body.
template <class Body>
int exit_code_of(Body&& body) {
  return exit_code(forked(body));
}

}  // namespace hcomm::testing
