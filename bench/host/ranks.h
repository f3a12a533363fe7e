// Ranks as processes on the cores of this machine, for benchmarks that compare hcomm with what the machine can do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>

#include "comm/communicator.h"

namespace hcomm::bench {

// Memory that the forked processes share, zeroed; lives until the program ends.
void* shared_pages(std::size_t bytes);

template <class T>
T& shared() {
  return *new (shared_pages(sizeof(T))) T;
}

// Forks `ranks` processes, rank r on core r modulo the cores, and runs body(rank). Waits for all; exits with an error if one
// fails.
void run_processes(int ranks, const std::function<void(int rank)>& body);

// The same, with a communicator.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body);

void pin_to_core(int core);
int cores();

}  // namespace hcomm::bench
