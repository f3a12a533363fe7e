#include <xmmintrin.h>

#include "kernels/float_control.h"

namespace hcomm {
namespace {

constexpr unsigned kDefaultWord = 0x1F80;  // all exceptions masked, nearest, no FTZ, no DAZ, no flags
constexpr unsigned kFlags = 0x003F;

}  // namespace

void DefaultFloatControl::enter() noexcept {
  const unsigned word = _mm_getcsr();
  control_ = word;
  if ((word & ~kFlags) != kDefaultWord) _mm_setcsr(kDefaultWord);
}

void DefaultFloatControl::leave() noexcept {
  const unsigned caller = static_cast<unsigned>(control_);
  if (_mm_getcsr() != caller) _mm_setcsr(caller);
}

}  // namespace hcomm
