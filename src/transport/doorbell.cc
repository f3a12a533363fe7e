#include "transport/doorbell.h"

#include <algorithm>

#include "transport/bell_socket.h"
#include "transport/futex.h"
#include "transport/transport.h"

namespace hcomm {

void Sleeper::arm() {
  seen_ = bell_->word.load(std::memory_order_seq_cst);
  // An exchange, not a store: a full barrier before the loads of the last look.
  bell_->sleeping.exchange(1, std::memory_order_seq_cst);
}

bool Sleeper::sleep(TimeNs most) {
  const bool rung = futex_wait(bell_->word, seen_, std::min(most, kLongestSleep));
  disarm();
  return rung;
}

void Sleeper::disarm() { bell_->sleeping.store(0, std::memory_order_release); }

void ring_always(Doorbell& bell) {
  bell.word.fetch_add(1, std::memory_order_seq_cst);
  if (const BellName name = bell.socket.load(std::memory_order_relaxed); name != 0) return ring_socket(name);
  futex_wake(bell.word, kWakeAll);
}

void ring(Window& window, int rank) {
  Doorbell& bell = window.doorbells[rank];
  if (__builtin_expect(bell.sleeping.load(std::memory_order_seq_cst) == 0, 1)) return;
  // Of several ringers one wakes the sleeper. If that one dies here, the sleep still ends in kLongestSleep.
  if (bell.sleeping.exchange(0, std::memory_order_seq_cst) != 0) ring_always(bell);
}

}  // namespace hcomm
