// How bytes reach a target, in each store mode. put() does not fence; publish() does, once, at the end of a kernel.
#pragma once

#include <cstddef>

#include "kernels/combine.h"

namespace hcomm {

void put(std::byte* target, const std::byte* source, std::size_t bytes, Store store) noexcept;
void publish(Store store) noexcept;

}  // namespace hcomm
