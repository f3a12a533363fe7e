// bench_host: what hcomm costs on this machine beside what the machine itself costs, measured in turn in one run.

#include <cstdio>

#include "sections.h"

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  hcomm::bench::plan_cache();
  hcomm::bench::small_message();
  hcomm::bench::more_ranks_than_cores();
  return 0;
}
