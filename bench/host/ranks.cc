#include "ranks.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "comm/init.h"
#include "topology/cores.h"

namespace hcomm::bench {
namespace {

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "bench: %s\n", what);
  std::exit(1);
}

void wait_for_all(const std::vector<pid_t>& children) {
  bool failed = false;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed = failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  if (failed) stop("a rank failed");
}

}  // namespace

void* shared_pages(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) stop("no shared memory");
  return memory;
}

int cores() { return affine_processors(); }

void pin_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(core % cores()), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) stop("cannot pin");
}

void run_processes(int ranks, const std::function<void(int)>& body) {
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) stop("cannot fork");
    if (child == 0) {
      pin_to_core(rank);
      body(rank);
      std::fflush(nullptr);
      _exit(0);
    }
    children.push_back(child);
  }
  wait_for_all(children);
}

void run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  hcommUniqueId id;
  if (!make_unique_id(id).ok()) stop("no unique id");
  run_processes(ranks, [&](int rank) {
    auto made = init_rank(ranks, id, rank);
    if (!made.ok()) stop(std::string(made.status().trail()).c_str());
    body(*made.value());
  });
}

}  // namespace hcomm::bench
