// How a waiter passes its time: it spins while that is cheap and useful, then yields the core, then sleeps.
//
// Ranks that fit the cores spin first: their peer runs now and answers within a microsecond. Ranks that do not fit yield at
// once, because the peer they wait for needs this very core. Everybody sleeps in the end.
#pragma once

#include <cstdint>

namespace hcomm {

enum class IdleAct : std::uint8_t { spin, yield, sleep };

struct IdlePolicy {
  int spins = 0;
  int yields = 0;

  // ranks: on this host, of this communicator; cores: that they may use together.
  static constexpr IdlePolicy for_load(int ranks, int cores) {
    if (ranks <= cores) return {.spins = 4000, .yields = 200};
    return {.spins = 0, .yields = 40 + 4 * (ranks / (cores > 0 ? cores : 1))};
  }
};

class IdleLadder {
 public:
  explicit IdleLadder(IdlePolicy policy) : policy_(policy) {}

  // The next thing to do after a turn that found no work.
  IdleAct next() {
    const int turn = turns_;
    if (turn < policy_.spins + policy_.yields) ++turns_;
    if (turn < policy_.spins) return IdleAct::spin;
    return turn < policy_.spins + policy_.yields ? IdleAct::yield : IdleAct::sleep;
  }
  void reset() { turns_ = 0; }  // after a turn that found work

 private:
  IdlePolicy policy_;
  int turns_ = 0;
};

// One polite instruction of a spin loop; nothing where none is known.
#if defined(__x86_64__)
inline void spin_pause() { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
inline void spin_pause() { asm volatile("yield"); }
#else
inline void spin_pause() {}
#endif

}  // namespace hcomm
