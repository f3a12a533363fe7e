#include <cfenv>

#include "kernels/float_control.h"

namespace hcomm {

// What standard C++ offers: the rounding mode and the flags.
void DefaultFloatControl::enter() noexcept {
  control_ = static_cast<std::uint64_t>(std::fegetround());
  flags_ = static_cast<std::uint64_t>(std::fetestexcept(FE_ALL_EXCEPT));
  std::fesetround(FE_TONEAREST);
}

void DefaultFloatControl::leave() noexcept {
  std::feclearexcept(FE_ALL_EXCEPT & ~static_cast<int>(flags_));
  std::fesetround(static_cast<int>(control_));
}

}  // namespace hcomm
