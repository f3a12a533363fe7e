#include "kernels/float_control.h"

namespace hcomm {

// FPCR 0 is: round to nearest, no flush to zero, no trapped exceptions. The flags lie in FPSR.
void DefaultFloatControl::enter() noexcept {
  asm volatile("mrs %0, fpcr" : "=r"(control_)::"memory");
  asm volatile("mrs %0, fpsr" : "=r"(flags_)::"memory");
  if (control_ != 0) asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}) : "memory");
}

void DefaultFloatControl::leave() noexcept {
  std::uint64_t flags = 0;
  asm volatile("mrs %0, fpsr" : "=r"(flags)::"memory");
  if (flags != flags_) asm volatile("msr fpsr, %0" ::"r"(flags_) : "memory");
  if (control_ != 0) asm volatile("msr fpcr, %0" ::"r"(control_) : "memory");
}

}  // namespace hcomm
