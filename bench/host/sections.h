// The parts of bench_host. Each prints its own lines and compares with a yardstick measured in the same run, in turn.
#pragma once

namespace hcomm::bench {

void plan_cache();         // one probe of the plan cache
void small_message();      // 8 bytes at 2 ranks against a bare exchange of cache lines
void more_ranks_than_cores();  // 8 bytes at 8 ranks against process switches

}  // namespace hcomm::bench
