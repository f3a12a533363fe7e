#include <cstring>

#include "kernels/stores.h"

namespace hcomm {

// Elsewhere every mode is the regular one, which a later release store publishes without a fence.
void put(std::byte* target, const std::byte* source, std::size_t bytes, Store) noexcept {
  std::memcpy(target, source, bytes);
}

void publish(Store) noexcept {}

}  // namespace hcomm
