#include "transport/robust_pulses.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace hcomm {
namespace {

// The kernel may look at any instant: pointers are stored whole and in program order.
void store(robust_list*& place, robust_list* value) { __atomic_store_n(&place, value, __ATOMIC_SEQ_CST); }

}  // namespace

RobustPulses::RobustPulses() {
  head_.list.next = &head_.list;
  head_.futex_offset = static_cast<long>(offsetof(Pulse, word)) - static_cast<long>(offsetof(Pulse, node));
  head_.list_op_pending = nullptr;
}

bool RobustPulses::adopt_calling_thread() { return syscall(SYS_set_robust_list, &head_, sizeof head_) == 0; }

bool RobustPulses::take(Pulse& pulse, std::uint32_t thread_id) {
  held_.reserve(held_.size() + 1);
  store(head_.list_op_pending, &pulse.node);  // covers the time between the exchange and the list
  std::uint32_t nobody = 0;
  const bool taken = pulse.word.compare_exchange_strong(nobody, thread_id, std::memory_order_seq_cst);
  if (taken) {
    held_.push_back(&pulse);
    relink();
  }
  store(head_.list_op_pending, nullptr);
  return taken;
}

void RobustPulses::release(Pulse& pulse) {
  std::erase(held_, &pulse);
  relink();
  pulse.word.store(0, std::memory_order_seq_cst);
}

void RobustPulses::forget_all() {
  held_.clear();
  store(head_.list.next, &head_.list);
}

// From the last to the first, so that the list is a list at every instant.
void RobustPulses::relink() {
  robust_list* next = &head_.list;
  for (auto pulse = held_.rbegin(); pulse != held_.rend(); ++pulse) {
    store((*pulse)->node.next, next);
    next = &(*pulse)->node;
  }
  store(head_.list.next, next);
}

}  // namespace hcomm
