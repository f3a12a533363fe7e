// The three kinds of store that the probe compares; each platform has a file of its own.
#pragma once

#include <cstddef>

namespace hcomm {

// False where the last two are the same as the first.
extern const bool kStoreKindsDiffer;

// Copies bytes, a multiple of 64, between 64-byte aligned buffers; the stores are ordered before later ones on return.
void store_regular(void* target, const void* source, std::size_t bytes);
void store_non_temporal(void* target, const void* source, std::size_t bytes);
void store_rep_movsb(void* target, const void* source, std::size_t bytes);

}  // namespace hcomm
